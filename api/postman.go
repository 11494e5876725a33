package api

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// postmanSchema is the version of the format that Postman imports.
const postmanSchema = "https://schema.getpostman.com/json/collection/v2.1.0/collection.json"

type (
	postmanCollection struct {
		Info     postmanInfo   `json:"info"`
		Auth     postmanAuth   `json:"auth"`
		Variable []postmanPair `json:"variable"`
		Item     []postmanItem `json:"item"`
	}
	postmanInfo struct {
		Name        string `json:"name"`
		Description string `json:"description"`
		Schema      string `json:"schema"`
	}
	postmanAuth struct {
		Type   string        `json:"type"`
		Bearer []postmanPair `json:"bearer"`
	}
	postmanPair struct {
		Key         string `json:"key"`
		Value       string `json:"value"`
		Type        string `json:"type,omitempty"`
		Description string `json:"description,omitempty"`
		Disabled    bool   `json:"disabled,omitempty"`
	}
	// postmanItem is a request or, with Item, a folder.
	postmanItem struct {
		Name    string          `json:"name"`
		Item    []postmanItem   `json:"item,omitempty"`
		Request *postmanRequest `json:"request,omitempty"`
	}
	postmanRequest struct {
		Method      string        `json:"method"`
		Description string        `json:"description"`
		Header      []postmanPair `json:"header"`
		URL         postmanURL    `json:"url"`
		Body        *postmanBody  `json:"body,omitempty"`
	}
	postmanURL struct {
		Raw      string        `json:"raw"`
		Host     []string      `json:"host"`
		Path     []string      `json:"path"`
		Query    []postmanPair `json:"query,omitempty"`
		Variable []postmanPair `json:"variable,omitempty"`
	}
	postmanBody struct {
		Mode string `json:"mode"`
		Raw  string `json:"raw"`
	}
)

// mustPostman generates the collection of a document of this package. The tests
// generate it, so a failure cannot reach a running program.
func mustPostman(document []byte) []byte {
	data, err := postman(document)
	if err != nil {
		panic("api: " + err.Error())
	}
	return data
}

// postman generates a Postman collection from a contract: a folder per tag, a
// request per operation, the token and the address as variables.
func postman(document []byte) ([]byte, error) {
	var doc contract
	if err := json.Unmarshal(document, &doc); err != nil {
		return nil, fmt.Errorf("read the contract: %w", err)
	}
	folders := make([]postmanItem, 0, len(doc.Tags))
	for _, tag := range doc.Tags {
		if requests := doc.requests(tag.Name); len(requests) > 0 {
			folders = append(folders, postmanItem{Name: tag.Name, Item: requests})
		}
	}
	address := doc.Servers[0].URL
	if strings.HasPrefix(address, "/") {
		address = "http://127.0.0.1:8080" + address
	}
	return json.MarshalIndent(postmanCollection{
		Info: postmanInfo{Name: doc.Info.Title + " " + doc.Info.Version, Description: doc.Info.Summary, Schema: postmanSchema},
		Auth: postmanAuth{Type: "bearer", Bearer: []postmanPair{{Key: "token", Value: "{{token}}", Type: "string"}}},
		Variable: []postmanPair{
			{Key: "baseUrl", Value: address},
			{Key: "token", Value: "", Description: "An access token, created in the cabinet under Integrations, Tokens."},
		},
		Item: folders,
	}, "", "  ")
}

// contract is the part of an OpenAPI document that a collection needs.
type contract struct {
	Info struct {
		Title, Version, Summary string
	}
	Servers    []struct{ URL string }
	Tags       []struct{ Name string }
	Paths      map[string]map[string]json.RawMessage
	Components struct {
		Parameters map[string]contractParameter
	}
}

type contractOperation struct {
	Summary, Description string
	Tags                 []string
	Parameters           []contractParameter
	RequestBody          struct {
		Content map[string]struct {
			Examples map[string]struct{ Value json.RawMessage }
		}
	}
}

type contractParameter struct {
	Ref         string `json:"$ref"`
	Name        string
	In          string
	Description string
	Example     any
}

// requests returns the requests of the operations with a tag, by path and method.
func (c *contract) requests(tag string) []postmanItem {
	var items []postmanItem
	for path, item := range c.Paths {
		var shared []contractParameter
		_ = json.Unmarshal(item["parameters"], &shared) // absent where the path has none
		for method, text := range item {
			var op contractOperation
			if method == "parameters" || json.Unmarshal(text, &op) != nil || !slices.Contains(op.Tags, tag) {
				continue
			}
			op.Parameters = append(slices.Clone(shared), op.Parameters...)
			items = append(items, postmanItem{Name: op.Summary, Request: c.request(strings.ToUpper(method), path, op)})
		}
	}
	slices.SortFunc(items, func(a, b postmanItem) int {
		return cmp.Or(cmp.Compare(a.Request.URL.Raw, b.Request.URL.Raw), cmp.Compare(b.Request.Method, a.Request.Method))
	})
	return items
}

func (c *contract) request(method, path string, op contractOperation) *postmanRequest {
	r := &postmanRequest{Method: method, Description: op.Description, Header: []postmanPair{}}
	path = strings.NewReplacer("{", ":", "}", "").Replace(path)
	r.URL = postmanURL{Raw: "{{baseUrl}}" + path, Host: []string{"{{baseUrl}}"}, Path: strings.Split(path[1:], "/")}
	for _, p := range op.Parameters {
		if p.Ref != "" {
			p = c.Components.Parameters[p.Ref[strings.LastIndex(p.Ref, "/")+1:]]
		}
		pair := postmanPair{Key: p.Name, Description: strings.TrimSpace(p.Description)}
		if p.Example != nil {
			pair.Value = fmt.Sprint(p.Example)
		}
		switch p.In {
		case "path":
			r.URL.Variable = append(r.URL.Variable, pair)
		case "query":
			pair.Disabled = true // all of them are optional
			r.URL.Query = append(r.URL.Query, pair)
		}
	}
	for _, example := range op.RequestBody.Content["application/json"].Examples {
		r.Header = []postmanPair{{Key: "Content-Type", Value: "application/json"}}
		r.Body = &postmanBody{Mode: "raw", Raw: string(example.Value)}
	}
	return r
}
