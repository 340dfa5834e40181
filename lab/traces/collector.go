// Package traces receives the spans of the manager and shows the reconciliations of a cluster.
//
// The collector is the server of OTLP over HTTP with JSON that `lab up --traces` starts: it appends each request to a file as one line. It blocks
// until its context ends.
package traces

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"sync"
	"time"
)

// maxRequest bounds one request, and maxFile the file: what comes after it is dropped.
const (
	maxRequest = 16 << 20
	maxFile    = 1 << 30
)

// Path is the path of the requests.
// https://opentelemetry.io/docs/specs/otlp/#otlphttp-request
const Path = "/v1/traces"

// RunCollector serves on the address and appends the spans to a file.
func RunCollector(ctx context.Context, address, file string) error {
	out, err := os.OpenFile(file, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer out.Close()
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	server := &http.Server{Handler: NewHandler(out), ReadHeaderTimeout: time.Minute}
	stop := context.AfterFunc(ctx, func() { _ = server.Close() })
	defer stop()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// NewHandler returns the handler of the collector, which writes to out.
func NewHandler(out io.Writer) http.Handler {
	var mu sync.Mutex
	written := 0
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("POST "+Path, func(w http.ResponseWriter, r *http.Request) {
		raw, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequest))
		line := &bytes.Buffer{}
		if err != nil || json.Compact(line, raw) != nil {
			http.Error(w, "the body is not JSON, or too long", http.StatusBadRequest)
			return
		}
		line.WriteByte('\n')
		mu.Lock()
		defer mu.Unlock()
		if written += line.Len(); written <= maxFile {
			_, _ = out.Write(line.Bytes())
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, "{}")
	})
	return mux
}
