package sheet

import (
	"archive/zip"
	"bufio"
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// A small archive can unpack to any size, and its XML can be nested to any depth. These
// bounds keep what a file costs in proportion to the tables that people have.
const (
	maxUnpacked = 64 << 20  // of one part of the file
	maxElement  = 512 << 10 // of a row or a shared text: 16,384 empty cells fit
	maxDepth    = 50
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
	if err := readPart(archive, "xl/sharedStrings.xml", func(d *partDecoder) error {
		shared, err = readShared(d)
		return err
	}); err != nil && !errors.Is(err, errNoPart) {
		return Table{}, err
	}
	var t builder
	err = readPart(archive, "xl/worksheets/sheet1.xml", func(d *partDecoder) error { return t.readRows(d, shared) })
	if errors.Is(err, errNoPart) {
		err = errXLSX
	}
	if err != nil {
		return t.Table, err
	}
	return t.Table, t.check()
}

var errNoPart = errors.New("the workbook has no such part")

// partDecoder reads one part of a workbook. It fails if the part is too large, or if too
// much of it is read before the next call of begin.
type partDecoder struct {
	*xml.Decoder
	in      io.Reader
	total   int // bytes that were read
	element int // of them, since begin
}

func newPartDecoder(in io.Reader) *partDecoder {
	d := &partDecoder{in: in}
	d.Decoder = xml.NewDecoder(bufio.NewReader(d))
	return d
}

// Read implements io.Reader for the XML decoder.
func (d *partDecoder) Read(p []byte) (int, error) {
	if d.total > maxUnpacked || d.element > maxElement {
		return 0, errXLSX
	}
	n, err := d.in.Read(p)
	d.total, d.element = d.total+n, d.element+n
	return n, err
}

// begin starts the count of the next element or token.
func (d *partDecoder) begin() { d.element = 0 }

func readPart(archive *zip.Reader, name string, read func(*partDecoder) error) error {
	at := slices.IndexFunc(archive.File, func(f *zip.File) bool { return strings.EqualFold(f.Name, name) })
	if at < 0 {
		return errNoPart
	}
	part, err := archive.File[at].Open()
	if err != nil {
		return errXLSX
	}
	defer part.Close()
	return read(newPartDecoder(part))
}

func readShared(d *partDecoder) ([]string, error) {
	var out []string
	size := 0
	err := eachElement(d, "si", func(start xml.StartElement) error {
		var item xlsxText
		if err := d.DecodeElement(&item, &start); err != nil || len(out) == maxShared {
			return errXLSX
		}
		text := item.text()
		if len(text) > maxCell {
			text = text[:maxCell+1] // a row that refers to it is refused
		}
		out = append(out, strings.Clone(text))
		if size += len(text); size > maxText {
			return errTooMuchText
		}
		return nil
	})
	return out, err
}

// eachElement calls fn at the beginning of every element with the name.
func eachElement(d *partDecoder, name string, fn func(xml.StartElement) error) error {
	depth := 0
	for {
		d.begin()
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return errXLSX
		}
		switch token := token.(type) {
		case xml.EndElement:
			depth--
		case xml.StartElement:
			if token.Name.Local == name { // fn reads its end too
				d.begin()
				err = fn(token)
			} else if depth++; depth > maxDepth {
				err = errXLSX
			}
		}
		if err != nil {
			return err
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

func (t *builder) readRows(d *partDecoder, shared []string) error {
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
