package kubeapi

import (
	"encoding/json"
	"errors"
	"net/http"
	"sync"

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apiserver/pkg/endpoints/request"
	inmemory "sigs.k8s.io/cluster-api/test/infrastructure/inmemory/pkg/runtime"
	inmemoryapi "sigs.k8s.io/cluster-api/test/infrastructure/inmemory/pkg/server/api"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// API serves the objects of all workload clusters of a manager. It is safe for concurrent use.
type API struct {
	manager inmemory.Manager
	scheme  *runtime.Scheme
	// lenient passes over fields that it does not know, strict does not.
	lenient, strict runtime.Decoder
	parse           *request.RequestInfoFactory
	portForward     http.Handler
	deletions       *deletions
	// allocating is held from the choice of a Service's addresses and ports until they are stored.
	allocating sync.Mutex
}

// Cluster is whose objects a request is about.
type Cluster struct {
	// Group is the cluster's resource group of the manager.
	Group string
	// ServiceSubnets are the CIDRs of Services, the preferred family first: kubeadm's networking.serviceSubnet.
	ServiceSubnets []string
	// Address is where the cluster's pods are reached, as HOST:PORT; port-forward dials it.
	Address string
}

// New serves the objects of the manager, whose scheme has all kinds. The resolver gives port-forward the group that is served at an address.
func New(manager inmemory.Manager, resolver func(address string) (string, error)) (*API, error) {
	scheme := manager.GetScheme()
	a := &API{
		manager: manager, scheme: scheme,
		lenient: serializer.NewCodecFactory(scheme).UniversalDeserializer(),
		strict:  serializer.NewCodecFactory(scheme, serializer.EnableStrict).UniversalDeserializer(),
		parse: &request.RequestInfoFactory{
			APIPrefixes: sets.NewString("api", "apis"), GrouplessAPIPrefixes: sets.NewString("api"),
		},
		portForward: inmemoryapi.NewAPIServerHandler(manager, logr.Discard(), resolver),
		deletions:   &deletions{last: map[string]map[schema.GroupVersionKind]uint64{}},
	}
	return a, a.deletions.followAll(manager.GetCache())
}

// ForgetCluster drops the records of a cluster that has ended.
func (a *API) ForgetCluster(c Cluster) { a.deletions.forgetGroup(c.Group) }

// ServeAdmin answers a request of a client that may do everything.
func (a *API) ServeAdmin(c Cluster, rw http.ResponseWriter, r *http.Request) {
	if isTunnel(r) {
		serveTunnel(a.portForward, rw, requestFor(c, r))
		return
	}
	for _, answer := range []func(string) any{answerDiscovery, openAPI} {
		if document := answer(r.URL.Path); document != nil && r.Method == http.MethodGet {
			WriteJSON(rw, http.StatusOK, document)
			return
		}
	}
	info, err := a.parse.NewRequestInfo(r)
	if err != nil || !info.IsResourceRequest {
		WriteStatus(rw, http.StatusNotFound, metav1.StatusReasonNotFound, "the server could not find the requested resource")
		return
	}
	res := findResource(info.APIGroup, info.APIVersion, info.Resource)
	switch {
	case res != nil && res.plural == "pods" && info.Subresource == "portforward":
		a.portForward.ServeHTTP(rw, requestFor(c, r))
		return
	case res == nil, info.Subresource != "" && info.Subresource != "status", res.namespaced && info.Name != "" && info.Namespace == "":
		WriteStatus(rw, http.StatusNotFound, metav1.StatusReasonNotFound, "the server could not find the requested resource "+info.Resource)
		return
	}
	call := &call{
		api: a, cluster: c, resource: res, subresource: info.Subresource, request: r,
		client: a.manager.GetResourceGroup(c.Group).GetClient(), key: client.ObjectKey{Namespace: info.Namespace, Name: info.Name},
	}
	if !res.namespaced {
		call.key.Namespace = ""
	}
	if err := call.serveVerb(info.Verb, rw); err != nil {
		writeError(rw, err)
	}
}

// requestFor returns the request as the in-memory handlers read it: they dial the address that the Host header names.
func requestFor(c Cluster, r *http.Request) *http.Request {
	out := r.Clone(r.Context())
	out.Host = c.Address
	return out
}

var statusMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}

// WriteStatus answers with a failure as kube-apiserver does.
func WriteStatus(rw http.ResponseWriter, code int, reason metav1.StatusReason, message string) {
	WriteJSON(rw, code, metav1.Status{TypeMeta: statusMeta, Status: metav1.StatusFailure, Reason: reason, Message: message, Code: int32(code)})
}

func writeError(rw http.ResponseWriter, err error) {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		status = apierrors.NewInternalError(err)
	}
	s := status.Status()
	s.TypeMeta = statusMeta
	WriteJSON(rw, int(s.Code), s)
}

// WriteJSON answers a request with a value as JSON.
func WriteJSON(rw http.ResponseWriter, code int, v any) {
	rw.Header().Set("Content-Type", "application/json")
	rw.WriteHeader(code)
	_ = json.NewEncoder(rw).Encode(v)
}
