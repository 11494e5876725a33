package api

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/go-faster/yaml"
)

// toJSON converts YAML to JSON by way of the node tree, since decoding into
// maps would lose the order in which a reader meets the parts.
func toJSON(document []byte) ([]byte, error) {
	var root yaml.Node
	if err := yaml.Unmarshal(document, &root); err != nil {
		return nil, fmt.Errorf("read document: %w", err)
	}
	var out bytes.Buffer
	if err := writeNode(&out, &root); err != nil {
		return nil, err
	}
	out.WriteByte('\n')
	return out.Bytes(), nil
}

func writeNode(out *bytes.Buffer, n *yaml.Node) error {
	switch n.Kind {
	case yaml.DocumentNode:
		return writeNode(out, n.Content[0])
	case yaml.MappingNode:
		return writeMapping(out, n)
	case yaml.SequenceNode:
		out.WriteByte('[')
		for i, item := range n.Content {
			if i > 0 {
				out.WriteByte(',')
			}
			if err := writeNode(out, item); err != nil {
				return err
			}
		}
		out.WriteByte(']')
		return nil
	case yaml.ScalarNode:
		return writeScalar(out, n)
	case yaml.AliasNode:
		return fmt.Errorf("line %d: aliases are not used in contracts", n.Line)
	default:
		return fmt.Errorf("line %d: unexpected node", n.Line)
	}
}

func writeMapping(out *bytes.Buffer, n *yaml.Node) error {
	out.WriteByte('{')
	for i := 0; i < len(n.Content); i += 2 {
		if i > 0 {
			out.WriteByte(',')
		}
		if err := writeValue(out, n.Content[i].Value); err != nil {
			return err
		}
		out.WriteByte(':')
		if err := writeNode(out, n.Content[i+1]); err != nil {
			return err
		}
	}
	out.WriteByte('}')
	return nil
}

func writeScalar(out *bytes.Buffer, n *yaml.Node) error {
	if n.ShortTag() == "!!str" || n.ShortTag() == "!!timestamp" {
		return writeValue(out, n.Value)
	}
	var v any
	if err := n.Decode(&v); err != nil {
		return fmt.Errorf("line %d: %w", n.Line, err)
	}
	return writeValue(out, v)
}

func writeValue(out *bytes.Buffer, v any) error {
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return fmt.Errorf("write value: %w", err)
	}
	out.Truncate(out.Len() - 1) // the encoder's newline
	return nil
}
