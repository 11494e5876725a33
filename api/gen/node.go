package main

import (
	"fmt"
	"strings"

	"github.com/go-faster/yaml"
)

// get returns the value of key, or nil if n is not a mapping or has no key.
func get(n *yaml.Node, key string) *yaml.Node {
	if n == nil || n.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return n.Content[i+1]
		}
	}
	return nil
}

// set replaces or appends the value of key, so that the order is kept.
func set(n *yaml.Node, key string, value *yaml.Node) {
	for i := 0; i < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			n.Content[i+1] = value
			return
		}
	}
	name := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: key, Style: yaml.DoubleQuotedStyle}
	n.Content = append(n.Content, name, value)
}

func remove(n *yaml.Node, key string) {
	for i := 0; i < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			n.Content = append(n.Content[:i], n.Content[i+2:]...)
			return
		}
	}
}

// resolve follows a local reference.
func resolve(doc, n *yaml.Node) (*yaml.Node, error) {
	ref := get(n, "$ref")
	if ref == nil {
		return n, nil
	}
	target := doc
	for part := range strings.SplitSeq(strings.TrimPrefix(ref.Value, "#/"), "/") {
		if target = get(target, part); target == nil {
			return nil, fmt.Errorf("nothing at %s", ref.Value)
		}
	}
	return target, nil
}

func clone(n *yaml.Node) *yaml.Node {
	c := *n
	c.Content = make([]*yaml.Node, len(n.Content))
	for i, child := range n.Content {
		c.Content[i] = clone(child)
	}
	return &c
}

// parse reads text of this program; a mistake in it is a mistake in the code.
func parse(text string) *yaml.Node {
	var n yaml.Node
	if err := yaml.Unmarshal([]byte(text), &n); err != nil {
		panic(fmt.Sprintf("%v in %s", err, text))
	}
	return n.Content[0]
}
