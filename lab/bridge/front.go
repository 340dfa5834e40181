package bridge

import (
	"net/http"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/version"

	"sigs.k8s.io/cluster-api-provider-azure/lab/kubeapi"
)

// serveAPI is an API server of the cluster: it authenticates and authorises, and answers with the objects in memory.
func (w *workload) serveAPI(rw http.ResponseWriter, r *http.Request) {
	who, err := w.authenticateRequest(r)
	if err != nil {
		kubeapi.WriteStatus(rw, http.StatusUnauthorized, metav1.StatusReasonUnauthorized, "Unauthorized: "+err.Error())
		return
	}
	if !who.isAllowed(r) {
		reason, code := metav1.StatusReasonForbidden, http.StatusForbidden
		if who.anonymous {
			reason, code = metav1.StatusReasonUnauthorized, http.StatusUnauthorized
		}
		kubeapi.WriteStatus(rw, code, reason, who.name+" may not "+r.Method+" "+r.URL.Path)
		return
	}
	switch r.URL.Path {
	case "/healthz", "/livez", "/readyz":
		_, _ = rw.Write([]byte("ok"))
		return
	case "/version":
		kubeapi.WriteJSON(rw, http.StatusOK, w.versionInfo())
		return
	}
	w.fleet.api.ServeAdmin(w.apiCluster(), rw, r)
}

// apiCluster names the objects of the cluster to the API.
func (w *workload) apiCluster() kubeapi.Cluster {
	w.mu.Lock()
	defer w.mu.Unlock()
	return kubeapi.Cluster{Group: w.group, ServiceSubnets: splitList(w.settings.serviceSubnet), Address: w.pods.address}
}

func (w *workload) versionInfo() version.Info {
	w.mu.Lock()
	defer w.mu.Unlock()
	v := w.settings.version
	major, rest, _ := strings.Cut(strings.TrimPrefix(v, "v"), ".")
	minor, _, _ := strings.Cut(rest, ".")
	return version.Info{Major: major, Minor: minor, GitVersion: v, Platform: "linux/amd64"}
}
