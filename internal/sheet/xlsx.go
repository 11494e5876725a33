package sheet

import (
	"archive/zip"
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

const (
	maxUnpacked = 256 << 20 // of one part of the file
	maxShared   = 1_000_000
	maxParts    = 1000
)

var errXLSX = errors.New("the file can't be read as a workbook; save it as XLSX or CSV again")

// readXLSX reads the first sheet of a workbook.
func readXLSX(content []byte) (Table, error) {
	archive, err := zip.NewReader(bytes.NewReader(content), int64(len(content)))
	if err != nil || len(archive.File) > maxParts {
		return Table{}, errXLSX
	}
	var shared []string
	if err := readPart(archive, "xl/sharedStrings.xml", func(d *xml.Decoder) error {
		shared, err = readShared(d)
		return err
	}); err != nil && !errors.Is(err, errNoPart) {
		return Table{}, err
	}
	var t Table
	err = readPart(archive, "xl/worksheets/sheet1.xml", func(d *xml.Decoder) error { return t.readRows(d, shared) })
	if errors.Is(err, errNoPart) {
		err = errXLSX
	}
	if err != nil {
		return t, err
	}
	return t, t.check()
}

var errNoPart = errors.New("the workbook has no such part")

func readPart(archive *zip.Reader, name string, read func(*xml.Decoder) error) error {
	at := slices.IndexFunc(archive.File, func(f *zip.File) bool { return strings.EqualFold(f.Name, name) })
	if at < 0 {
		return errNoPart
	}
	part, err := archive.File[at].Open()
	if err != nil {
		return errXLSX
	}
	defer part.Close()
	return read(xml.NewDecoder(io.LimitReader(part, maxUnpacked)))
}

func readShared(d *xml.Decoder) ([]string, error) {
	var out []string
	err := eachElement(d, "si", func(start xml.StartElement) error {
		var item xlsxText
		if err := d.DecodeElement(&item, &start); err != nil || len(out) == maxShared {
			return errXLSX
		}
		out = append(out, item.text())
		return nil
	})
	return out, err
}

// eachElement calls fn at the beginning of every element with the name.
func eachElement(d *xml.Decoder, name string, fn func(xml.StartElement) error) error {
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return errXLSX
		}
		if start, ok := token.(xml.StartElement); ok && start.Name.Local == name {
			if err := fn(start); err != nil {
				return err
			}
		}
	}
}

// xlsxText is a text, whole or in runs of different styles.
type xlsxText struct {
	T    string   `xml:"t"`
	Runs []string `xml:"r>t"`
}

func (t xlsxText) text() string { return t.T + strings.Join(t.Runs, "") }

type xlsxRow struct {
	Cells []struct {
		Ref    string   `xml:"r,attr"`
		Type   string   `xml:"t,attr"`
		Value  string   `xml:"v"`
		Inline xlsxText `xml:"is"`
	} `xml:"c"`
}

func (t *Table) readRows(d *xml.Decoder, shared []string) error {
	return eachElement(d, "row", func(start xml.StartElement) error {
		var row xlsxRow
		if err := d.DecodeElement(&row, &start); err != nil {
			return errXLSX
		}
		var cells []string
		for i, c := range row.Cells {
			at := i
			if c.Ref != "" {
				at = columnOf(c.Ref)
			}
			if at >= 16_384 {
				return errXLSX
			}
			if at >= MaxColumns && t.Header != nil {
				continue
			}
			for len(cells) <= at {
				cells = append(cells, "")
			}
			switch c.Type {
			case "s":
				n, err := strconv.Atoi(c.Value)
				if err != nil || n < 0 || n >= len(shared) {
					return fmt.Errorf("row %d: %w", len(t.Rows)+2, errXLSX)
				}
				cells[at] = shared[n]
			case "inlineStr":
				cells[at] = c.Inline.text()
			default:
				cells[at] = c.Value
			}
		}
		return t.add(cells)
	})
}

// columnOf returns the place of a cell, such as 27 for AB7.
func columnOf(ref string) int {
	n := 0
	for _, c := range ref {
		if c < 'A' || c > 'Z' || n > 1<<20 {
			break
		}
		n = n*26 + int(c-'A') + 1
	}
	return max(n-1, 0)
}
