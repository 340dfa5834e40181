package inspect

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	armclient "sigs.k8s.io/cluster-api-provider-azure/internal/arm/client"
	"sigs.k8s.io/cluster-api-provider-azure/internal/setup/redact"
	"sigs.k8s.io/cluster-api-provider-azure/internal/text"
)

// Bounds of a bundle.
const (
	maxObjects = 20000
	maxEvents  = 20000
	// maxLog bounds the lines of one log that are about the cluster. The last ones are kept.
	maxLog = 16 << 20
)

// Log is the log of a manager.
type Log struct {
	Name string
	Open func(ctx context.Context) (io.ReadCloser, error)
}

// Bundle collects the state of a cluster.
type Bundle struct {
	Kubernetes client.Reader
	// Kinds are the kinds of Cluster API and its providers that the management cluster has.
	Kinds []schema.GroupVersionKind
	// Cluster is the key of the Cluster.
	Cluster client.ObjectKey
	// Azure reads the resources of the cluster's groups; with nil they are left out, and Notes have the reason.
	Azure *armclient.Client
	Logs  []Log
	// Notes are about parts that the bundle cannot have.
	Notes []string
	// Now is the time of the files.
	Now time.Time
}

// bundled is the content of a bundle while it is collected.
type bundled struct {
	objects []*unstructured.Unstructured
	files   map[string][]byte
	notes   []string
}

// Write writes the bundle as a compressed archive, and returns notes about parts that are missing. It writes no Secret and reads none.
func (b Bundle) Write(ctx context.Context, out io.Writer) (notes []string, err error) {
	c := &bundled{files: map[string][]byte{}, notes: slices.Clone(b.Notes)}
	if err := b.collectObjects(ctx, c); err != nil {
		return nil, err
	}
	if err := b.collectEvents(ctx, c); err != nil {
		c.notes = append(c.notes, "Events are missing: "+err.Error())
	}
	c.files["conditions.txt"] = formatConditions(c.objects)
	if b.Azure != nil {
		b.collectOperations(ctx, c)
	}
	for _, log := range b.Logs {
		if err := b.collectLog(ctx, c, log); err != nil {
			c.notes = append(c.notes, "The log of "+log.Name+" is missing: "+err.Error())
		}
	}
	if err := ctx.Err(); err != nil { // The user interrupted the command, so the requests for some parts failed.
		return nil, fmt.Errorf("the bundle is incomplete: %w", err)
	}
	for i, note := range c.notes {
		c.notes[i] = redact.RedactText(oneLine(note))
	}
	c.files["notes.txt"] = []byte(strings.Join(append(c.notes, ""), "\n"))
	return c.notes, b.writeArchive(c, out)
}

// collectObjects adds the Cluster, the objects that belong to it, and those that they refer to.
func (b Bundle) collectObjects(ctx context.Context, c *bundled) error {
	var all []*unstructured.Unstructured
	for _, kind := range b.Kinds {
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
		if err := b.Kubernetes.List(ctx, list, client.InNamespace(b.Cluster.Namespace), client.Limit(maxObjects)); err != nil {
			if kind.GroupKind() == clusterv1.GroupVersion.WithKind("Cluster").GroupKind() {
				return fmt.Errorf("list the Clusters of namespace %s: %w", b.Cluster.Namespace, err)
			}
			c.notes = append(c.notes, fmt.Sprintf("Objects of kind %s are missing: %v", kind.Kind, err))
			continue
		}
		for i := range list.Items {
			all = append(all, &list.Items[i])
		}
		if len(all) > maxObjects {
			return fmt.Errorf("the namespace %s has more than %d objects of Cluster API", b.Cluster.Namespace, maxObjects)
		}
	}
	included := make([]bool, len(all))
	ids, references := map[string]bool{}, map[string]bool{}
	for again := true; again; {
		again = false
		for i, object := range all {
			if included[i] || !b.belongs(object, ids, references) {
				continue
			}
			included[i], again = true, true
			ids[string(object.GetUID())] = true
			addReferences(object.Object["spec"], references)
		}
	}
	for i, object := range all {
		if included[i] {
			c.objects = append(c.objects, object)
		}
	}
	if !slices.ContainsFunc(c.objects, func(o *unstructured.Unstructured) bool { return o.GetKind() == "Cluster" }) {
		return fmt.Errorf("there is no Cluster %s", b.Cluster)
	}
	for _, object := range c.objects {
		shown := object.DeepCopy()
		hideSecrets(shown.Object)
		raw, err := yaml.Marshal(shown.Object)
		if err != nil {
			return err
		}
		c.files["objects/"+object.GetKind()+"/"+object.GetName()+".yaml"] = raw
	}
	return nil
}

// belongs reports whether an object is the Cluster, has its label, is owned by an included object, or an included one refers to it.
func (b Bundle) belongs(object *unstructured.Unstructured, ids, references map[string]bool) bool {
	if object.GetKind() == "Cluster" {
		return object.GetName() == b.Cluster.Name
	}
	if object.GetLabels()[clusterv1.ClusterNameLabel] == b.Cluster.Name || references[object.GetKind()+"/"+object.GetName()] {
		return true
	}
	return slices.ContainsFunc(object.GetOwnerReferences(), func(owner ownerReference) bool { return ids[string(owner.UID)] && owner.Kind != "ClusterClass" })
}

// addReferences adds the kinds and names of all references in a spec.
func addReferences(value any, out map[string]bool) {
	switch value := value.(type) {
	case map[string]any:
		kind, _ := value["kind"].(string)
		name, _ := value["name"].(string)
		if kind != "" && name != "" && kind != "Cluster" {
			out[kind+"/"+name] = true
		}
		for _, item := range value {
			addReferences(item, out)
		}
	case []any:
		for _, item := range value {
			addReferences(item, out)
		}
	}
}

// collectEvents adds the events about the objects, oldest first.
func (b Bundle) collectEvents(ctx context.Context, c *bundled) error {
	names := map[string]bool{}
	for _, object := range c.objects {
		names[object.GetKind()+"/"+object.GetName()] = true
	}
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(schema.GroupVersionKind{Version: "v1", Kind: "EventList"})
	if err := b.Kubernetes.List(ctx, list, client.InNamespace(b.Cluster.Namespace), client.Limit(maxEvents)); err != nil {
		return err
	}
	var lines []string
	for i := range list.Items {
		event := list.Items[i].Object
		field := func(path ...string) string {
			found, _, _ := unstructured.NestedString(event, path...)
			return found
		}
		about := field("involvedObject", "kind") + "/" + field("involvedObject", "name")
		if !names[about] {
			continue
		}
		at := field("lastTimestamp")
		if at == "" {
			at = field("eventTime")
		}
		lines = append(lines, strings.Join([]string{at, field("type"), field("reason"), about, redact.RedactText(oneLine(field("message")))}, "\t"))
	}
	slices.Sort(lines)
	c.files["events.txt"] = []byte(strings.Join(append(lines, ""), "\n"))
	return nil
}

func oneLine(message string) string {
	return text.QuoteUnprintable(strings.Join(strings.Fields(message), " "))
}

// formatConditions returns a table of the conditions of all objects.
func formatConditions(objects []*unstructured.Unstructured) []byte {
	var out bytes.Buffer
	table := tabwriter.NewWriter(&out, 0, 4, 2, ' ', 0)
	fmt.Fprintln(table, "OBJECT\tCONDITION\tSTATUS\tREASON\tSINCE\tMESSAGE")
	for _, object := range objects {
		list, _, _ := unstructured.NestedSlice(object.Object, "status", "conditions")
		for _, item := range list {
			condition, is := item.(map[string]any)
			if !is {
				continue
			}
			field := func(name string) string {
				found, _ := condition[name].(string)
				return redact.RedactText(oneLine(found))
			}
			fmt.Fprintf(table, "%s/%s\t%s\t%s\t%s\t%s\t%s\n", object.GetKind(), object.GetName(), field("type"), field("status"), field("reason"),
				field("lastTransitionTime"), field("message"))
		}
	}
	_ = table.Flush()
	return out.Bytes()
}

// collectOperations adds the resources of the cluster's groups with the state of their last operation.
func (b Bundle) collectOperations(ctx context.Context, c *bundled) {
	var out bytes.Buffer
	table := tabwriter.NewWriter(&out, 0, 4, 2, ' ', 0)
	fmt.Fprintln(table, "RESOURCE\tSTATE\tCREATED\tCHANGED")
	for _, group := range groupsOf(c.objects) {
		items, err := b.Azure.List(ctx, string(group)+"/resources", "2021-04-01", url.Values{"$expand": {"createdTime,changedTime,provisioningState"}})
		if arm.IsNotFound(err) {
			fmt.Fprintf(table, "%s\tabsent\t\t\n", group)
			continue
		}
		if err != nil {
			c.notes = append(c.notes, fmt.Sprintf("Operations in %s are missing: %v", group.ShortName(), err))
			continue
		}
		for _, item := range items {
			var resource struct{ ID, ProvisioningState, CreatedTime, ChangedTime string }
			if json.Unmarshal(item, &resource) == nil {
				fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", oneLine(resource.ID), oneLine(resource.ProvisioningState), oneLine(resource.CreatedTime),
					oneLine(resource.ChangedTime))
			}
		}
	}
	_ = table.Flush()
	c.files["operations.txt"] = out.Bytes()
}

// groupsOf returns the resource groups that the objects name: in fields, with their subscription, and in IDs.
func groupsOf(objects []*unstructured.Unstructured) (out []arm.ID) {
	add := func(id arm.ID) {
		if id.Subscription() != "" && id.ResourceGroup() != "" && !slices.ContainsFunc(out, id.Equal) {
			out = append(out, id)
		}
	}
	for _, object := range objects {
		spec, _ := object.Object["spec"].(map[string]any)
		subscription, _ := spec["subscriptionID"].(string)
		for _, name := range []string{"resourceGroup", "resourceGroupName"} {
			if group, _ := spec[name].(string); group != "" {
				add(arm.ResourceGroupID(subscription, group))
			}
		}
		for _, name := range []string{"providerID"} {
			if id, _ := spec[name].(string); id != "" {
				id := arm.ID(strings.TrimPrefix(id, providerPrefix))
				add(arm.ResourceGroupID(id.Subscription(), id.ResourceGroup()))
			}
		}
	}
	return out
}

// collectLog adds the lines of a log that name the cluster or one of its objects.
func (b Bundle) collectLog(ctx context.Context, c *bundled, log Log) error {
	in, err := log.Open(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
	var names []string
	for _, object := range c.objects {
		names = append(names, object.GetName())
	}
	slices.Sort(names)
	lines, err := FilterLog(in, slices.Compact(names), maxLog)
	if err != nil {
		return err
	}
	c.files["logs/"+strings.ReplaceAll(log.Name, "/", "_")+".log"] = []byte(lines)
	return nil
}

func (b Bundle) writeArchive(c *bundled, out io.Writer) error {
	compressed := gzip.NewWriter(out)
	archive := tar.NewWriter(compressed)
	var names []string
	for name := range c.files {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		header := &tar.Header{Name: b.Cluster.Name + "/" + name, Mode: 0o600, Size: int64(len(c.files[name])), ModTime: b.Now, Format: tar.FormatPAX}
		if err := archive.WriteHeader(header); err != nil {
			return err
		}
		if _, err := archive.Write(c.files[name]); err != nil {
			return err
		}
	}
	if err := archive.Close(); err != nil {
		return err
	}
	return compressed.Close()
}
