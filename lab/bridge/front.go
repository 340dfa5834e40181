package bridge

import (
	"encoding/json"
	"net/http"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/version"
)

// serveAPI is the API server in front of the in-memory one: it authenticates, authorises and adds
// the endpoints the in-memory server lacks.
func (w *workload) serveAPI(rw http.ResponseWriter, r *http.Request) {
	who, err := w.authenticate(r)
	if err != nil {
		writeStatus(rw, http.StatusUnauthorized, metav1.StatusReasonUnauthorized, "Unauthorized: "+err.Error())
		return
	}
	if !who.may(r) {
		reason, code := metav1.StatusReasonForbidden, http.StatusForbidden
		if who.anonymous {
			reason, code = metav1.StatusReasonUnauthorized, http.StatusUnauthorized
		}
		writeStatus(rw, code, reason, who.name+" may not "+r.Method+" "+r.URL.Path)
		return
	}
	switch r.URL.Path {
	case "/healthz", "/livez", "/readyz":
		_, _ = rw.Write([]byte("ok"))
		return
	case "/version":
		writeJSON(rw, http.StatusOK, w.versionInfo())
		return
	}
	// The in-memory handlers tell clusters apart by the port in the Host header and dial the same
	// address for port-forward.
	r.Host = w.pods.address
	picked, selective := selects(r)
	switch {
	case selective && picked.table != "" && !isWatch(r):
		w.serveTable(rw, r, picked)
	case selective:
		serveSelection(w.fleet.api, picked, rw, r)
	case patchable(r):
		w.servePatch(rw, r)
	case isTunnel(r):
		serveTunnel(w.fleet.api, rw, r)
	case r.Method == http.MethodDelete:
		serveDelete(w.fleet.api, rw, r)
	default:
		w.fleet.api.ServeHTTP(rw, r)
	}
}

func (w *workload) versionInfo() version.Info {
	w.mu.Lock()
	defer w.mu.Unlock()
	v := w.settings.version
	major, rest, _ := strings.Cut(strings.TrimPrefix(v, "v"), ".")
	minor, _, _ := strings.Cut(rest, ".")
	return version.Info{Major: major, Minor: minor, GitVersion: v, Platform: "linux/amd64"}
}

// serveDelete completes the in-memory server's empty answer to a DELETE, which kubectl cannot read.
func serveDelete(h http.Handler, rw http.ResponseWriter, r *http.Request) {
	recorder := &writeRecorder{ResponseWriter: rw}
	h.ServeHTTP(recorder, r)
	if !recorder.wrote {
		writeJSON(rw, http.StatusOK, metav1.Status{TypeMeta: statusMeta, Status: metav1.StatusSuccess})
	}
}

type writeRecorder struct {
	http.ResponseWriter
	wrote bool
}

func (w *writeRecorder) WriteHeader(code int) {
	w.wrote = true
	w.ResponseWriter.WriteHeader(code)
}

func (w *writeRecorder) Write(b []byte) (int, error) {
	w.wrote = true
	return w.ResponseWriter.Write(b)
}

var statusMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}

func writeStatus(rw http.ResponseWriter, code int, reason metav1.StatusReason, message string) {
	writeJSON(rw, code, metav1.Status{TypeMeta: statusMeta, Status: metav1.StatusFailure, Reason: reason, Message: message, Code: int32(code)})
}

func writeJSON(rw http.ResponseWriter, code int, v any) {
	rw.Header().Set("Content-Type", "application/json")
	rw.WriteHeader(code)
	_ = json.NewEncoder(rw).Encode(v)
}
