package bridge

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"slices"
	"sync"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	cloudv1 "sigs.k8s.io/cluster-api/test/infrastructure/inmemory/pkg/cloud/api/v1alpha1"
	inmemory "sigs.k8s.io/cluster-api/test/infrastructure/inmemory/pkg/runtime"
	inmemoryetcd "sigs.k8s.io/cluster-api/test/infrastructure/inmemory/pkg/server/etcd"

	"sigs.k8s.io/cluster-api-provider-azure/lab/kubeapi"
)

// fleet holds every workload cluster, keyed by the pin of its CA: that is what all machines of a
// cluster have in common, whether they init or join.
//
// Cluster API's in-memory runtime keeps the objects and serves etcd. Its own listener is not used: it binds
// every interface and asks no client who it is.
type fleet struct {
	manager inmemory.Manager
	api     *kubeapi.API
	etcd    http.Handler
	ports   *portRange
	log     *slog.Logger

	mu        sync.Mutex
	workloads map[string]*workload
	serial    int
	// groups maps the address requests are served under to the cluster's in-memory resource group.
	groups map[string]string
}

func newScheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, cloudv1.AddToScheme, apiextensionsv1.AddToScheme} {
		utilruntime.Must(add(scheme))
	}
	return scheme
}

func newFleet(ports *portRange, log *slog.Logger) (*fleet, error) {
	f := &fleet{
		manager:   inmemory.NewManager(newScheme()),
		ports:     ports,
		log:       log,
		workloads: map[string]*workload{},
		groups:    map[string]string{},
	}
	f.etcd = inmemoryetcd.NewEtcdServerHandler(f.manager, logr.Discard(), f.resolveHost)
	var err error
	f.api, err = kubeapi.New(f.manager, f.resolveHost)
	return f, err
}

func (f *fleet) resolveHost(host string) (string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	group, ok := f.groups[host]
	if !ok {
		return "", fmt.Errorf("no workload cluster is served at %s", host)
	}
	return group, nil
}

// findByPin returns the cluster whose CA has the pin, or nil.
func (f *fleet) findByPin(pin string) *workload {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.workloads[pin]
}

// ensureByPin returns the cluster whose CA has the pin and creates an empty one when there is none.
func (f *fleet) ensureByPin(ctx context.Context, pin string) (*workload, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if w, ok := f.workloads[pin]; ok {
		return w, nil
	}
	f.serial++
	w := &workload{
		fleet:    f,
		pin:      pin,
		group:    fmt.Sprintf("workload-%d", f.serial),
		members:  map[string]*member{},
		departed: map[string]bool{},
		podCerts: map[string]*servingCertificate{},
	}
	f.manager.AddResourceGroup(w.group)
	w.client = f.manager.GetResourceGroup(w.group).GetClient()
	pods, err := f.ports.serveOnNext(w.tlsConfig(nil), http.HandlerFunc(w.servePods), f.log)
	if err != nil {
		return nil, err
	}
	w.pods = pods
	f.groups[pods.address] = w.group
	f.workloads[pin] = w
	return w, createNamespaces(ctx, w.client)
}

// dropCluster ends a cluster with all its state.
func (f *fleet) dropCluster(w *workload) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.workloads[w.pin] != w {
		return
	}
	w.pods.closeServer()
	if w.front != nil {
		w.front.closeServer()
	}
	delete(f.groups, w.pods.address)
	delete(f.workloads, w.pin)
	f.manager.DeleteResourceGroup(w.group)
	f.api.ForgetCluster(kubeapi.Cluster{Group: w.group})
}

func (f *fleet) closeAll() {
	f.mu.Lock()
	all := slices.Collect(maps.Values(f.workloads))
	f.mu.Unlock()
	for _, w := range all {
		w.mu.Lock()
		for _, m := range w.members {
			m.closeFront()
		}
		w.mu.Unlock()
		f.dropCluster(w)
	}
}

// workload is one cluster: its objects in memory, its certificate authorities and its machines.
type workload struct {
	fleet  *fleet
	pin    string
	group  string
	client inmemory.Client
	// pods serves what port-forward reaches: etcd and the API server inside the static pods.
	pods *server
	// entra checks bearer tokens of a managed cluster; nil in one of kubeadm's.
	entra *entra

	mu sync.Mutex
	// front is the API server of a managed cluster, which no machine of its own runs.
	front *server
	// settings come from the machine that ran kubeadm init, or from what joining machines know.
	settings settings
	pki      *pkiFiles
	members  map[string]*member
	podCerts map[string]*servingCertificate
	// departed are the Nodes of deleted machines that a cloud-controller-manager is to delete.
	departed map[string]bool
}

// settings are the parts of a ClusterConfiguration which later machines read from the
// kubeadm-config ConfigMap.
type settings struct {
	name          string
	endpoint      string
	version       string
	serviceSubnet string
	dnsDomain     string
	certSANs      []string
	yaml          string
	// entra reports whether tokens of Microsoft Entra ID give access to a managed cluster.
	entra bool
}

// member is one machine of the cluster.
type member struct {
	node *corev1.Node
	// found is what cloud-node-manager finds of the machine; nil if its kubelet needs no cloud provider.
	found        *lookup
	off          bool
	controlPlane bool
	externalEtcd bool
	front        *server
	bindPort     int32
}

func (m *member) closeFront() {
	if m.front != nil {
		m.front.closeServer()
		m.front = nil
	}
}

var errAlreadyInitialised = errors.New("the cluster is initialised already: a second kubeadm init would make another cluster with the same CA")

// enrolment is one machine as it enters the cluster.
type enrolment struct {
	guest guest
	plan  *kubeadmPlan
	pki   *pkiFiles
	node  *corev1.Node
	// found is what cloud-node-manager finds of the machine; nil if its kubelet needs no cloud provider.
	found *lookup
	// file is set for a machine that joins by a kubeconfig.
	file     *fileDiscovery
	restored bool
}

// enrolMachine makes the machine a Node. For a control plane it also adds the static pods and an etcd
// member, and opens an API server of its own, whose address it returns.
func (w *workload) enrolMachine(ctx context.Context, e enrolment) (address string, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if e.plan.Init != nil && !e.restored && w.controlPlanes() > 0 {
		return "", errAlreadyInitialised
	}
	m := &member{node: e.node, found: e.found, controlPlane: e.plan.controlPlane(), bindPort: e.plan.bindPort()}
	if m.controlPlane {
		if w.pki == nil {
			w.pki = e.pki
		}
		w.learnSettings(e.plan)
		m.externalEtcd = e.pki.etcd == nil
		if e.node.Status.NodeInfo.KubeletVersion == "" {
			e.node.Status.NodeInfo.KubeletVersion = w.settings.version
		}
		if m.front, err = w.openFront(e); err != nil {
			return "", err
		}
		address = m.front.address
		if err := w.createClusterObjects(ctx); err != nil {
			return "", err
		}
		if err := w.startControlPlane(ctx, m); err != nil {
			return "", err
		}
	} else if e.node.Status.NodeInfo.KubeletVersion == "" {
		e.node.Status.NodeInfo.KubeletVersion = w.settings.version
	}
	if err := w.registerNode(ctx, e.node); err != nil {
		return "", err
	}
	w.members[e.node.Name] = m
	delete(w.departed, e.node.Name)
	return address, w.keepNodes(ctx)
}

// learnSettings takes the cluster's settings from a machine: all of them from kubeadm init, and from a join only the
// endpoint if it is not known yet (after a restart of the bridge).
func (w *workload) learnSettings(p *kubeadmPlan) {
	if p.Init == nil {
		if w.settings.endpoint == "" {
			w.settings.endpoint = p.Join.Discovery.BootstrapToken.APIServerEndpoint
		}
		return
	}
	s := settings{
		name:     p.Cluster.ControlPlaneEndpoint,
		endpoint: p.Cluster.ControlPlaneEndpoint,
		certSANs: p.Cluster.APIServer.CertSANs,
		yaml:     p.ClusterYAML,
	}
	for to, from := range map[*string]*string{&s.name: p.Extra.ClusterName, &s.version: p.Extra.KubernetesVersion,
		&s.serviceSubnet: p.Extra.ServiceSubnet, &s.dnsDomain: p.Extra.DNSDomain} {
		if from != nil && *from != "" {
			*to = *from
		}
	}
	w.settings = s
}

func (w *workload) controlPlanes() int {
	n := 0
	for _, m := range w.members {
		if m.controlPlane {
			n++
		}
	}
	return n
}

// openFront starts the API server of one control-plane machine with the serving certificate kubeadm
// would issue there.
func (w *workload) openFront(e enrolment) (*server, error) {
	return w.serveFront(w.servingNames(e))
}

func (w *workload) serveFront(names []string) (*server, error) {
	cert, err := w.pki.cluster.issueCertificate("kube-apiserver", names, serverAuth)
	if err != nil {
		return nil, err
	}
	return w.fleet.ports.serveOnNext(w.tlsConfig(cert), http.HandlerFunc(w.serveAPI), w.fleet.log)
}

// servingNames returns the SANs of kubeadm's API server certificate.
// https://kubernetes.io/docs/setup/best-practices/certificates/
func (w *workload) servingNames(e enrolment) []string {
	return append(append([]string{e.node.Name}, w.clusterNames()...), e.guest.privateIPs()...)
}

// clusterNames returns the SANs that the API servers of a cluster have in common.
func (w *workload) clusterNames() []string {
	domain := firstNonEmpty(w.settings.dnsDomain, "cluster.local")
	names := []string{"kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc." + domain, "localhost",
		"127.0.0.1"}
	if host, _ := splitEndpoint(w.settings.endpoint); host != "" {
		names = append(names, host)
	}
	if _, subnet, err := net.ParseCIDR(firstOf(firstNonEmpty(w.settings.serviceSubnet, "10.96.0.0/12"))); err == nil {
		first := slices.Clone(subnet.IP)
		first[len(first)-1]++
		names = append(names, first.String())
	}
	return append(names, w.settings.certSANs...)
}

func firstOf(list string) string {
	if l := splitList(list); len(l) > 0 {
		return l[0]
	}
	return ""
}

// dismissMachine takes a machine out of the cluster: its API server, static pods, etcd member and Node. It reports
// whether the cluster ended with it.
func (w *workload) dismissMachine(ctx context.Context, name string) (ended bool, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	m, ok := w.members[name]
	if !ok {
		return false, nil
	}
	delete(w.members, name)
	m.closeFront()
	// The objects live in the etcd members: without one there is nothing left to keep. AKS has those of a managed cluster.
	if w.entra == nil && ((m.controlPlane && w.controlPlanes() == 0) || len(w.members) == 0) {
		w.fleet.dropCluster(w)
		return true, nil
	}
	var errs []error
	if m.controlPlane {
		errs = append(errs, w.removeControlPlane(ctx, m))
	}
	errs = append(errs, w.dropNodeLease(ctx, name))
	if m.found != nil && w.hasCloudController(ctx) {
		// The Node is not Ready any more, which makes the cloud-controller-manager look for its VM.
		w.departed[name] = true
		return false, errors.Join(append(errs, w.setNodePower(ctx, name, false))...)
	}
	errs = append(errs, deleteIfThere(ctx, w.client, &corev1.Node{}, "", name))
	return false, errors.Join(errs...)
}

// suspendMachine models a stopped or deallocated VM: the Node is not heard of any more, its API server and
// etcd member do not answer. The objects stay.
func (w *workload) suspendMachine(ctx context.Context, name string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	m, ok := w.members[name]
	if !ok {
		return nil
	}
	m.closeFront()
	m.off = true
	var errs []error
	if m.controlPlane {
		errs = append(errs, w.stopControlPlane(ctx, m))
	}
	return errors.Join(append(errs, w.setNodePower(ctx, name, false))...)
}

// resumeMachine models the start of a stopped VM and returns the address of its API server, if any.
func (w *workload) resumeMachine(ctx context.Context, e enrolment) (address string, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	m, ok := w.members[e.node.Name]
	if !ok {
		return "", nil
	}
	m.off = false
	if m.controlPlane {
		if m.front, err = w.openFront(e); err != nil {
			return "", err
		}
		address = m.front.address
		if err := w.startControlPlane(ctx, m); err != nil {
			return "", err
		}
	}
	return address, w.setNodePower(ctx, e.node.Name, true)
}
