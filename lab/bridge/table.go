package bridge

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/duration"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// tablePath matches the requests for Nodes and Pods that kubectl get sends.
var tablePath = regexp.MustCompile(`^/api/v1/(?:namespaces/([^/]+)/)?(nodes|pods)(?:/([^/]+))?$`)

// wantsTable says whether kubectl asks for rows to print.
func wantsTable(r *http.Request) bool {
	return r.Method == http.MethodGet && strings.Contains(r.Header.Get("Accept"), "as=Table") && tablePath.MatchString(r.URL.Path)
}

// serveTable prints Nodes and Pods with the columns kube-apiserver has for them, which the in-memory
// server does not know: without it kubectl get nodes shows no status.
func (w *workload) serveTable(rw http.ResponseWriter, r *http.Request, s selection) {
	m := tablePath.FindStringSubmatch(r.URL.Path)
	namespace, resource, name := m[1], m[2], m[3]
	var options []client.ListOption
	if namespace != "" {
		options = append(options, client.InNamespace(namespace))
	}
	table := newTable(resource)
	var objects []client.Object
	var err error
	if resource == "nodes" {
		var list corev1.NodeList
		err = w.client.List(r.Context(), &list, options...)
		table.ResourceVersion = list.ResourceVersion
		for i := range list.Items {
			objects = append(objects, &list.Items[i])
		}
	} else {
		var list corev1.PodList
		err = w.client.List(r.Context(), &list, options...)
		table.ResourceVersion = list.ResourceVersion
		for i := range list.Items {
			objects = append(objects, &list.Items[i])
		}
	}
	if err != nil {
		writeError(rw, err)
		return
	}
	for _, o := range objects {
		if (name == "" || o.GetName() == name) && s.matches(o) {
			table.Rows = append(table.Rows, tableRow(o))
		}
	}
	if name != "" && len(table.Rows) == 0 {
		writeStatus(rw, http.StatusNotFound, metav1.StatusReasonNotFound, fmt.Sprintf("%s %q not found", resource, name))
		return
	}
	slices.SortFunc(table.Rows, func(a, b metav1.TableRow) int { return strings.Compare(rowKey(a), rowKey(b)) })
	writeJSON(rw, http.StatusOK, table)
}

func newTable(resource string) *metav1.Table {
	table := &metav1.Table{TypeMeta: metav1.TypeMeta{APIVersion: "meta.k8s.io/v1", Kind: "Table"}}
	if resource == "nodes" {
		table.ColumnDefinitions = columns("Name", "Status", "Roles", "Age", "Version", "Internal-IP*", "External-IP*")
	} else {
		table.ColumnDefinitions = columns("Name", "Ready", "Status", "Restarts", "Age", "IP*", "Node*")
	}
	return table
}

func tableRow(o client.Object) metav1.TableRow {
	switch o := o.(type) {
	case *corev1.Node:
		return row(&o.ObjectMeta, o.Name, nodeStatus(o), nodeRoles(o), age(o.CreationTimestamp), o.Status.NodeInfo.KubeletVersion,
			address(o, corev1.NodeInternalIP), address(o, corev1.NodeExternalIP))
	case *corev1.Pod:
		return row(&o.ObjectMeta, o.Name, readyContainers(o), string(o.Status.Phase), "0", age(o.CreationTimestamp), or(o.Status.PodIP, "<none>"), or(o.Spec.NodeName, "<none>"))
	}
	return metav1.TableRow{}
}

// tableEvent turns the object of a watch event into a table of one row.
func tableEvent(resource string, o *unstructured.Unstructured) any {
	var typed client.Object = &corev1.Pod{}
	if resource == "nodes" {
		typed = &corev1.Node{}
	}
	if runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, typed) != nil {
		return o
	}
	table := newTable(resource)
	table.Rows = []metav1.TableRow{tableRow(typed)}
	return table
}

func rowKey(r metav1.TableRow) string {
	o := r.Object.Object.(*metav1.PartialObjectMetadata)
	return o.Namespace + "/" + o.Name
}

// columns defines columns by name; a trailing * keeps one for -o wide.
func columns(names ...string) []metav1.TableColumnDefinition {
	var out []metav1.TableColumnDefinition
	for _, n := range names {
		wide := strings.HasSuffix(n, "*")
		c := metav1.TableColumnDefinition{Name: strings.TrimSuffix(n, "*"), Type: "string"}
		if n == "Name" {
			c.Format = "name"
		}
		if wide {
			c.Priority = 1
		}
		out = append(out, c)
	}
	return out
}

func row(meta *metav1.ObjectMeta, cells ...any) metav1.TableRow {
	return metav1.TableRow{Cells: cells, Object: runtime.RawExtension{Object: &metav1.PartialObjectMetadata{
		TypeMeta:   metav1.TypeMeta{APIVersion: "meta.k8s.io/v1", Kind: "PartialObjectMetadata"},
		ObjectMeta: *meta,
	}}}
}

func age(created metav1.Time) string {
	return duration.HumanDuration(time.Since(created.Time))
}

func nodeStatus(n *corev1.Node) string {
	status := "Unknown"
	for _, c := range n.Status.Conditions {
		if c.Type != corev1.NodeReady {
			continue
		}
		status = "NotReady"
		if c.Status == corev1.ConditionTrue {
			status = "Ready"
		}
	}
	if n.Spec.Unschedulable {
		status += ",SchedulingDisabled"
	}
	return status
}

func nodeRoles(n *corev1.Node) string {
	var roles []string
	for k := range n.Labels {
		if role, ok := strings.CutPrefix(k, "node-role.kubernetes.io/"); ok && role != "" {
			roles = append(roles, role)
		}
	}
	slices.Sort(roles)
	return or(strings.Join(roles, ","), "<none>")
}

func address(n *corev1.Node, kind corev1.NodeAddressType) string {
	for _, a := range n.Status.Addresses {
		if a.Type == kind {
			return a.Address
		}
	}
	return "<none>"
}

func readyContainers(p *corev1.Pod) string {
	ready := 0
	for _, c := range p.Status.ContainerStatuses {
		if c.Ready {
			ready++
		}
	}
	return fmt.Sprintf("%d/%d", ready, len(p.Spec.Containers))
}
