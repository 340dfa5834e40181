package diagnostics

import (
	"fmt"
	"io"
	"net/http"
	"strings"

	"k8s.io/component-base/logs"
)

// setLogLevel sets the log verbosity from the body of a PUT, like the servers of Kubernetes.
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
		http.Error(w, "the body must be a number such as 4: "+err.Error(), http.StatusBadRequest)
		return
	}
	_, _ = fmt.Fprintln(w, said)
}
