package main

import (
	"debug/buildinfo"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"
)

// cycloneDX is a list of components in the form of https://cyclonedx.org, version 1.6.
type cycloneDX struct {
	Format      string      `json:"bomFormat"`
	SpecVersion string      `json:"specVersion"`
	Version     int         `json:"version"`
	Metadata    metadata    `json:"metadata"`
	Components  []component `json:"components"`
}

type metadata struct {
	Timestamp string    `json:"timestamp"`
	Component component `json:"component"`
}

type component struct {
	Type    string `json:"type"`
	Ref     string `json:"bom-ref"`
	Name    string `json:"name"`
	Version string `json:"version"`
	PURL    string `json:"purl"`
	Hashes  []hash `json:"hashes,omitempty"`
}

type hash struct {
	Algorithm string `json:"alg"`
	Content   string `json:"content"`
}

func newComponent(kind, ecosystem, name, version string) component {
	purl := fmt.Sprintf("pkg:%s/%s@%s", ecosystem, strings.ReplaceAll(name, "@", "%40"), version)
	return component{Type: kind, Ref: purl, Name: name, Version: version, PURL: purl}
}

// sbom lists what a binary contains: the Go modules that the linker recorded in it, the
// standard library, and the npm packages whose files are embedded.
func (r *release) sbom(binary string, p platform) ([]byte, error) {
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		return nil, err
	}
	out := cycloneDX{Format: "CycloneDX", SpecVersion: "1.6", Version: 1, Metadata: metadata{
		Timestamp: r.time.Format(time.RFC3339),
		Component: newComponent("application", "golang", info.Main.Path, r.version),
	}}
	out.Metadata.Component.PURL += "?goos=" + p.os + "&goarch=" + p.arch
	out.Components = append(out.Components, newComponent("library", "golang", "std", strings.TrimPrefix(info.GoVersion, "go")))
	for _, module := range info.Deps {
		c := newComponent("library", "golang", module.Path, module.Version)
		if sum, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(module.Sum, "h1:")); err == nil && len(sum) > 0 {
			c.Hashes = []hash{{"SHA-256", hex.EncodeToString(sum)}}
		}
		out.Components = append(out.Components, c)
	}
	assets, err := embeddedPackages()
	if err != nil {
		return nil, err
	}
	out.Components = append(out.Components, assets...)
	text, err := json.MarshalIndent(out, "", "  ")
	return append(text, '\n'), err
}

// embeddedPackages returns the npm packages whose code or styles are in the assets: those
// of web/ that have a notice. The others only build or test the assets.
func embeddedPackages() (out []component, err error) {
	notices, err := os.ReadFile("THIRD_PARTY_NOTICES.txt")
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile("web/package.json")
	if err != nil {
		return nil, err
	}
	var manifest struct {
		DevDependencies map[string]string `json:"devDependencies"`
	}
	if err := json.Unmarshal(text, &manifest); err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(manifest.DevDependencies)) {
		version := manifest.DevDependencies[name]
		if strings.Contains(string(notices), "\n"+name+" "+version+"\n") {
			out = append(out, newComponent("library", "npm", name, version))
		}
	}
	return out, nil
}
