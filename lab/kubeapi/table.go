package kubeapi

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/duration"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// wantsTable is true for requests of kubectl get, which asks for rows to print.
func wantsTable(r *http.Request) bool {
	return strings.Contains(r.Header.Get("Accept"), "as=Table")
}

// tableColumns are those of kube-apiserver's tables, as far as people look at them here. A trailing * keeps a column for -o wide. Other
// kinds have their name and age.
var tableColumns = map[string][]string{
	"nodes":    {"Name", "Status", "Roles", "Age", "Version", "Internal-IP*", "External-IP*"},
	"pods":     {"Name", "Ready", "Status", "Restarts", "Age", "IP*", "Node*"},
	"services": {"Name", "Type", "Cluster-IP", "External-IP", "Port(s)", "Age"},
	"events":   {"Last Seen", "Type", "Reason", "Object", "Message", "Name*"},
	"leases":   {"Name", "Holder", "Age"},
}

func newTable(r *resource) *metav1.Table {
	table := &metav1.Table{TypeMeta: metav1.TypeMeta{APIVersion: "meta.k8s.io/v1", Kind: "Table"}}
	names, ok := tableColumns[r.plural]
	if !ok || (r.group != "" && r.plural != "leases") {
		names = []string{"Name", "Age"}
	}
	for _, n := range names {
		wide := strings.HasSuffix(n, "*")
		column := metav1.TableColumnDefinition{Name: strings.TrimSuffix(n, "*"), Type: "string"}
		if column.Name == "Name" {
			column.Format = "name"
		}
		if wide {
			column.Priority = 1
		}
		table.ColumnDefinitions = append(table.ColumnDefinitions, column)
	}
	return table
}

func tableRow(o client.Object) metav1.TableRow {
	cells := []any{o.GetName(), formatAge(o.GetCreationTimestamp().Time)}
	switch o := o.(type) {
	case *corev1.Node:
		cells = []any{
			o.Name, nodeStatus(o), nodeRoles(o), formatAge(o.CreationTimestamp.Time), o.Status.NodeInfo.KubeletVersion,
			nodeAddress(o, corev1.NodeInternalIP), nodeAddress(o, corev1.NodeExternalIP),
		}
	case *corev1.Pod:
		cells = []any{
			o.Name, readyContainers(o), string(o.Status.Phase), "0", formatAge(o.CreationTimestamp.Time),
			cmp.Or(o.Status.PodIP, "<none>"), cmp.Or(o.Spec.NodeName, "<none>"),
		}
	case *corev1.Service:
		cells = []any{o.Name, string(o.Spec.Type), cmp.Or(o.Spec.ClusterIP, "<none>"), externalAddresses(o), servicePorts(o),
			formatAge(o.CreationTimestamp.Time)}
	case *corev1.Event:
		last := cmp.Or(o.LastTimestamp.Time, o.EventTime.Time, o.CreationTimestamp.Time)
		object := strings.ToLower(o.InvolvedObject.Kind) + "/" + o.InvolvedObject.Name
		cells = []any{formatAge(last), o.Type, o.Reason, object, strings.TrimSpace(o.Message), o.Name}
	case *coordinationv1.Lease:
		holder := "<none>"
		if o.Spec.HolderIdentity != nil {
			holder = *o.Spec.HolderIdentity
		}
		cells = []any{o.Name, holder, formatAge(o.CreationTimestamp.Time)}
	}
	meta := &metav1.PartialObjectMetadata{
		TypeMeta: metav1.TypeMeta{APIVersion: "meta.k8s.io/v1", Kind: "PartialObjectMetadata"},
		ObjectMeta: metav1.ObjectMeta{
			Name: o.GetName(), Namespace: o.GetNamespace(), Labels: o.GetLabels(), Annotations: o.GetAnnotations(), UID: o.GetUID(),
			ResourceVersion: o.GetResourceVersion(), CreationTimestamp: o.GetCreationTimestamp(),
		},
	}
	return metav1.TableRow{Cells: cells, Object: runtime.RawExtension{Object: meta}}
}

func formatAge(since time.Time) string { return duration.HumanDuration(time.Since(since)) }

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
	return cmp.Or(strings.Join(roles, ","), "<none>")
}

func nodeAddress(n *corev1.Node, kind corev1.NodeAddressType) string {
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

func externalAddresses(s *corev1.Service) string {
	var out []string
	for _, i := range s.Status.LoadBalancer.Ingress {
		out = append(out, cmp.Or(i.IP, i.Hostname))
	}
	switch {
	case len(out) > 0:
		return strings.Join(out, ",")
	case s.Spec.Type == corev1.ServiceTypeLoadBalancer:
		return "<pending>"
	}
	return "<none>"
}

func servicePorts(s *corev1.Service) string {
	var out []string
	for _, p := range s.Spec.Ports {
		text := fmt.Sprint(p.Port)
		if p.NodePort != 0 {
			text += fmt.Sprint(":", p.NodePort)
		}
		out = append(out, text+"/"+string(p.Protocol))
	}
	return cmp.Or(strings.Join(out, ","), "<none>")
}
