package diagnostics

import (
	"fmt"
	"io"
	"net/http"
	"strings"

	"k8s.io/component-base/logs"
)

// setLogLevel takes the verbosity of the log as the body of a PUT, as Kubernetes' own servers do.
func setLogLevel(w http.ResponseWriter, request *http.Request) {
	if request.Method != http.MethodPut {
		w.Header().Set("Allow", http.MethodPut)
		http.Error(w, "the level of the log is set with PUT", http.StatusMethodNotAllowed)
		return
	}
	body, err := io.ReadAll(io.LimitReader(request.Body, 16))
	if err != nil {
		http.Error(w, "the body cannot be read: "+err.Error(), http.StatusBadRequest)
		return
	}
	said, err := logs.GlogSetter(strings.TrimSpace(string(body)))
	if err != nil {
		http.Error(w, "the body is to be a number, as 4: "+err.Error(), http.StatusBadRequest)
		return
	}
	_, _ = fmt.Fprintln(w, said)
}
