package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
)

// packedFile is a file of an archive.
type packedFile struct {
	data []byte
	mode int64
}

// archiveFiles returns what an archive holds, by path.
func archiveFiles(binary string, extra map[string][]byte) (map[string]packedFile, error) {
	files := map[string]packedFile{}
	program, err := os.ReadFile(binary)
	if err != nil {
		return nil, err
	}
	files["coursebridge"] = packedFile{program, 0o755}
	for name, text := range extra {
		files[name] = packedFile{text, 0o644}
	}
	examples, err := filepath.Glob("deploy/*")
	if err != nil {
		return nil, err
	}
	for _, name := range append(examples, "LICENSE", "THIRD_PARTY_NOTICES.txt", "README.md", "CHANGELOG.md") {
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		files[filepath.ToSlash(name)] = packedFile{text, 0o644}
	}
	return files, nil
}

// archive returns files as tar.gz, below a prefix. Owner, time and order are fixed, so
// the bytes depend on the files alone.
func (r *release) archive(prefix string, files map[string]packedFile) ([]byte, error) {
	var out bytes.Buffer
	compressed := gzip.NewWriter(&out)
	w := tar.NewWriter(compressed)
	for _, folder := range folders(prefix, files) {
		if err := w.WriteHeader(r.header(tar.TypeDir, folder, 0o755)); err != nil {
			return nil, err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		f := files[name]
		header := r.header(tar.TypeReg, prefix+name, f.mode)
		header.Size = int64(len(f.data))
		if err := w.WriteHeader(header); err != nil {
			return nil, err
		}
		if _, err := w.Write(f.data); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	if err := compressed.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

func (r *release) header(kind byte, name string, mode int64) *tar.Header {
	return &tar.Header{Typeflag: kind, Name: name, Mode: mode, Uname: "root", Gname: "root", ModTime: r.time, Format: tar.FormatUSTAR}
}

// folders returns the directories that files are in, parents first.
func folders(prefix string, files map[string]packedFile) []string {
	found := map[string]bool{prefix: true}
	for name := range files {
		for folder := path.Dir(name); folder != "."; folder = path.Dir(folder) {
			found[prefix+folder+"/"] = true
		}
	}
	return slices.Sorted(maps.Keys(found))
}
