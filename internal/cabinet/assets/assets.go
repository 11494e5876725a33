// Package assets holds the cabinet's style sheets, scripts and pictures and
// serves them under names that change with their content. They are built from
// web/ by npm and committed, so that running needs Go only. Nothing is built or
// decided here.
package assets

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"net/http"
	"path"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Prefix is the path under which Handler serves.
const Prefix = "/cabinet/assets/"

//go:embed dist
var dist embed.FS

// file is one asset, ready to be sent.
type file struct {
	address string
	kind    string
	plain   []byte
	packed  func() []byte // compressed once, when first asked for
}

var load = sync.OnceValue(func() map[string]*file {
	files := map[string]*file{}
	entries, err := fs.ReadDir(dist, "dist")
	if err != nil {
		panic("assets: " + err.Error()) // the embedded folder is there
	}
	for _, entry := range entries {
		plain, err := fs.ReadFile(dist, path.Join("dist", entry.Name()))
		if err != nil {
			panic("assets: " + err.Error())
		}
		files[entry.Name()] = newFile(entry.Name(), plain)
	}
	return files
})

var byAddress = sync.OnceValue(func() map[string]*file {
	addressed := map[string]*file{}
	for _, f := range load() {
		addressed[f.address] = f
	}
	return addressed
})

const fontKind = "font/woff2"

var kinds = map[string]string{
	".css": "text/css; charset=utf-8",
	".js":  "text/javascript; charset=utf-8",
	".svg": "image/svg+xml",
	".txt": "text/plain; charset=utf-8",

	".woff2": fontKind,
}

func newFile(name string, plain []byte) *file {
	sum := sha256.Sum256(plain)
	extension := path.Ext(name)
	hashed := strings.TrimSuffix(name, extension) + "." + hex.EncodeToString(sum[:6]) + extension
	return &file{
		address: Prefix + hashed,
		kind:    kinds[extension],
		plain:   plain,
		packed:  sync.OnceValue(func() []byte { return pack(plain) }),
	}
}

func pack(plain []byte) []byte {
	var out bytes.Buffer
	w, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		panic("assets: " + err.Error()) // the level exists
	}
	_, err = w.Write(plain)
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		panic("assets: " + err.Error()) // a buffer takes all
	}
	return out.Bytes()
}

// URL is the address of an asset by the name it was built under. An unknown name
// is a mistake in a template, which the first rendering shows.
func URL(name string) string {
	f, found := load()[name]
	if !found {
		panic("assets: there is no " + name)
	}
	return f.address
}

// Handler serves the assets at their addresses, to be kept for ever. It asks for
// no session.
func Handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f, found := byAddress()[r.URL.Path]
		if !found {
			http.NotFound(w, r)
			return
		}
		header := w.Header()
		header.Set("Content-Type", f.kind)
		header.Set("Cache-Control", "public, max-age=31536000, immutable")
		header.Set("X-Content-Type-Options", "nosniff")
		header.Set("Vary", "Accept-Encoding")
		body := f.plain
		if AcceptsGzip(r) && f.kind != fontKind { // fonts are compressed already
			header.Set("Content-Encoding", "gzip")
			body = f.packed()
		}
		header.Set("Content-Length", strconv.Itoa(len(body)))
		if r.Header.Get("Range") != "" {
			r.Header.Del("Range") // of a compressed form a range means nothing
		}
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(body))
	})
}

// AcceptsGzip reports whether the client accepts a gzip-compressed response.
func AcceptsGzip(r *http.Request) bool {
	for _, coding := range strings.Split(r.Header.Get("Accept-Encoding"), ",") {
		name, parameter, _ := strings.Cut(coding, ";")
		if strings.EqualFold(strings.TrimSpace(name), "gzip") {
			_, weight, hasWeight := strings.Cut(parameter, "=")
			q, err := strconv.ParseFloat(strings.TrimSpace(weight), 64)
			return !hasWeight || err == nil && q > 0
		}
	}
	return false
}
