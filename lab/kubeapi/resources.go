package kubeapi

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// resource is one row of the API: a kind under its plural name.
type resource struct {
	group, version string
	plural, kind   string
	namespaced     bool
	short          []string
}

func (r *resource) groupVersion() schema.GroupVersion {
	return schema.GroupVersion{Group: r.group, Version: r.version}
}

func (r *resource) groupVersionKind() schema.GroupVersionKind {
	return r.groupVersion().WithKind(r.kind)
}

func (r *resource) groupResource() schema.GroupResource {
	return schema.GroupResource{Group: r.group, Resource: r.plural}
}

const (
	inNamespace = true
	ofCluster   = false
)

// resources are the kinds that cloud providers, autoscalers, storage drivers and Cluster API read or write, in the version that Kubernetes
// prefers. All have the subresource status, as most of them do in Kubernetes.
var resources = []resource{
	{"", "v1", "configmaps", "ConfigMap", inNamespace, []string{"cm"}},
	{"", "v1", "endpoints", "Endpoints", inNamespace, []string{"ep"}},
	{"", "v1", "events", "Event", inNamespace, []string{"ev"}},
	{"", "v1", "limitranges", "LimitRange", inNamespace, []string{"limits"}},
	{"", "v1", "namespaces", "Namespace", ofCluster, []string{"ns"}},
	{"", "v1", "nodes", "Node", ofCluster, []string{"no"}},
	{"", "v1", "persistentvolumeclaims", "PersistentVolumeClaim", inNamespace, []string{"pvc"}},
	{"", "v1", "persistentvolumes", "PersistentVolume", ofCluster, []string{"pv"}},
	{"", "v1", "pods", "Pod", inNamespace, []string{"po"}},
	{"", "v1", "replicationcontrollers", "ReplicationController", inNamespace, []string{"rc"}},
	{"", "v1", "resourcequotas", "ResourceQuota", inNamespace, []string{"quota"}},
	{"", "v1", "secrets", "Secret", inNamespace, nil},
	{"", "v1", "serviceaccounts", "ServiceAccount", inNamespace, []string{"sa"}},
	{"", "v1", "services", "Service", inNamespace, []string{"svc"}},
	{"apiextensions.k8s.io", "v1", "customresourcedefinitions", "CustomResourceDefinition", ofCluster, []string{"crd", "crds"}},
	{"apps", "v1", "controllerrevisions", "ControllerRevision", inNamespace, nil},
	{"apps", "v1", "daemonsets", "DaemonSet", inNamespace, []string{"ds"}},
	{"apps", "v1", "deployments", "Deployment", inNamespace, []string{"deploy"}},
	{"apps", "v1", "replicasets", "ReplicaSet", inNamespace, []string{"rs"}},
	{"apps", "v1", "statefulsets", "StatefulSet", inNamespace, []string{"sts"}},
	{"batch", "v1", "cronjobs", "CronJob", inNamespace, []string{"cj"}},
	{"batch", "v1", "jobs", "Job", inNamespace, nil},
	{"coordination.k8s.io", "v1", "leases", "Lease", inNamespace, nil},
	{"discovery.k8s.io", "v1", "endpointslices", "EndpointSlice", inNamespace, nil},
	{"networking.k8s.io", "v1", "ingressclasses", "IngressClass", ofCluster, nil},
	{"networking.k8s.io", "v1", "ingresses", "Ingress", inNamespace, []string{"ing"}},
	{"networking.k8s.io", "v1", "networkpolicies", "NetworkPolicy", inNamespace, []string{"netpol"}},
	{"policy", "v1", "poddisruptionbudgets", "PodDisruptionBudget", inNamespace, []string{"pdb"}},
	{"rbac.authorization.k8s.io", "v1", "clusterrolebindings", "ClusterRoleBinding", ofCluster, nil},
	{"rbac.authorization.k8s.io", "v1", "clusterroles", "ClusterRole", ofCluster, nil},
	{"rbac.authorization.k8s.io", "v1", "rolebindings", "RoleBinding", inNamespace, nil},
	{"rbac.authorization.k8s.io", "v1", "roles", "Role", inNamespace, nil},
	{"scheduling.k8s.io", "v1", "priorityclasses", "PriorityClass", ofCluster, []string{"pc"}},
	{"storage.k8s.io", "v1", "csidrivers", "CSIDriver", ofCluster, nil},
	{"storage.k8s.io", "v1", "csinodes", "CSINode", ofCluster, nil},
	{"storage.k8s.io", "v1", "csistoragecapacities", "CSIStorageCapacity", inNamespace, nil},
	{"storage.k8s.io", "v1", "storageclasses", "StorageClass", ofCluster, []string{"sc"}},
	{"storage.k8s.io", "v1", "volumeattachments", "VolumeAttachment", ofCluster, nil},
}

// findResource returns the resource of that name, or nil.
func findResource(group, version, plural string) *resource {
	i := slices.IndexFunc(resources, func(r resource) bool { return r.group == group && r.version == version && r.plural == plural })
	if i < 0 {
		return nil
	}
	return &resources[i]
}

var verbs = metav1.Verbs{"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"}

// answerDiscovery answers discovery of /, /api, /apis and below; nil for any other path.
func answerDiscovery(path string) any {
	switch path {
	case "/": // Cluster API asks for it to see whether a cluster can be reached.
		paths := metav1.RootPaths{Paths: []string{"/api", "/apis", openAPIRoot}}
		for _, gv := range groupVersions() {
			paths.Paths = append(paths.Paths, pathOf(gv))
		}
		return paths
	case "/api":
		return metav1.APIVersions{TypeMeta: metav1.TypeMeta{Kind: "APIVersions"}, Versions: []string{"v1"}}
	case "/apis":
		list := metav1.APIGroupList{TypeMeta: metav1.TypeMeta{Kind: "APIGroupList", APIVersion: "v1"}}
		for _, gv := range groupVersions() {
			if gv.Group != "" {
				list.Groups = append(list.Groups, apiGroup(gv))
			}
		}
		return list
	}
	for _, gv := range groupVersions() {
		switch path {
		case "/apis/" + gv.Group:
			group := apiGroup(gv)
			group.TypeMeta = metav1.TypeMeta{Kind: "APIGroup", APIVersion: "v1"}
			return group
		case pathOf(gv):
			return resourceList(gv)
		}
	}
	return nil
}

func apiGroup(gv schema.GroupVersion) metav1.APIGroup {
	version := metav1.GroupVersionForDiscovery{GroupVersion: gv.String(), Version: gv.Version}
	return metav1.APIGroup{Name: gv.Group, Versions: []metav1.GroupVersionForDiscovery{version}, PreferredVersion: version}
}

func resourceList(gv schema.GroupVersion) metav1.APIResourceList {
	list := metav1.APIResourceList{TypeMeta: metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"}, GroupVersion: gv.String()}
	for _, r := range resources {
		if r.groupVersion() != gv {
			continue
		}
		entry := metav1.APIResource{Name: r.plural, Kind: r.kind, Namespaced: r.namespaced, Verbs: verbs, ShortNames: r.short}
		status := metav1.APIResource{Name: r.plural + "/status", Kind: r.kind, Namespaced: r.namespaced,
			Verbs: metav1.Verbs{"get", "patch", "update"}}
		list.APIResources = append(list.APIResources, entry, status)
	}
	return list
}

// groupVersions returns those of the resources, without repetition.
func groupVersions() []schema.GroupVersion {
	var out []schema.GroupVersion
	for _, r := range resources {
		if gv := r.groupVersion(); !slices.Contains(out, gv) {
			out = append(out, gv)
		}
	}
	return out
}

// pathOf returns the path of an API version, such as /api/v1 or /apis/apps/v1.
func pathOf(gv schema.GroupVersion) string {
	if gv.Group == "" {
		return "/api/" + gv.Version
	}
	return "/apis/" + gv.String()
}
