package bridge

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/cluster-api/util/secret"
)

const acceptTable = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"

// checkKubectl sends the requests of kubectl which the in-memory server alone would not answer well.
func checkKubectl(t *testing.T, f *fakeSimulator, d *bootData, c *kubernetes.Clientset) {
	nodes := c.CoreV1().Nodes()
	t.Run("kubectl get nodes", func(t *testing.T) {
		var table metav1.Table
		data, err := c.CoreV1().RESTClient().Get().Resource("nodes").SetHeader("Accept", acceptTable).Do(t.Context()).Raw()
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(data, &table); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, r := range table.Rows {
			got = append(got, fmt.Sprint(r.Cells[0], " ", r.Cells[1], " ", r.Cells[2], " ", r.Cells[4]))
		}
		want := []string{"cp-0 Ready control-plane " + testVersion, "cp-1 Ready control-plane " + testVersion,
			"cp-2 Ready control-plane " + testVersion, "worker-0 Ready <none> " + testVersion}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("rows (-want +got)\n%s", diff)
		}
	})

	t.Run("kubectl wait node/cp-1", func(t *testing.T) {
		list, err := nodes.List(t.Context(), metav1.ListOptions{FieldSelector: "metadata.name=cp-1"})
		if err != nil {
			t.Fatal(err)
		}
		if len(list.Items) != 1 || list.Items[0].Name != "cp-1" {
			t.Errorf("selected %d nodes, want cp-1 only", len(list.Items))
		}
		w, err := nodes.Watch(t.Context(), metav1.ListOptions{FieldSelector: "metadata.name=cp-1", ResourceVersion: list.ResourceVersion})
		if err != nil {
			t.Fatal(err)
		}
		defer w.Stop()
		for _, name := range []string{"cp-0", "cp-1"} {
			if _, err := nodes.Patch(t.Context(), name, types.MergePatchType, []byte(`{"metadata":{"labels":{"seen":"yes"}}}`),
				metav1.PatchOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		e := <-w.ResultChan()
		if n, ok := e.Object.(*corev1.Node); !ok || e.Type != watch.Modified || n.Name != "cp-1" {
			t.Errorf("first event is %s %v, want cp-1 modified", e.Type, e.Object)
		}
	})

	t.Run("kubectl patch", func(t *testing.T) {
		for name, tc := range map[string]struct {
			reason string
			kind   types.PatchType
			patch  string
			want   []string
		}{
			"merge": {"lists are replaced", types.MergePatchType, `{"spec":{"taints":[{"key":"b","effect":"NoSchedule"}]}}`, []string{"b"}},
			"json": {"operations", types.JSONPatchType, `[{"op":"add","path":"/spec/taints/-","value":{"key":"c","effect":"NoSchedule"}}]`,
				[]string{"c", controlPlaneLabel}},
		} {
			before, err := nodes.Get(t.Context(), "cp-2", metav1.GetOptions{})
			if err != nil {
				t.Fatal(err)
			}
			got, err := nodes.Patch(t.Context(), "cp-2", tc.kind, []byte(tc.patch), metav1.PatchOptions{})
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			var keys []string
			for _, taint := range got.Spec.Taints {
				keys = append(keys, taint.Key)
			}
			slices.Sort(keys)
			if diff := cmp.Diff(tc.want, keys); diff != "" {
				t.Errorf("%s (%s): taints (-want +got)\n%s", name, tc.reason, diff)
			}
			before.ResourceVersion = got.ResourceVersion
			if _, err := nodes.Update(t.Context(), before, metav1.UpdateOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		ready := []byte(`{"status":{"conditions":[{"type":"Ready","status":"False"}]}}`)
		got, err := nodes.Patch(t.Context(), "cp-2", types.StrategicMergePatchType, ready, metav1.PatchOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if len(got.Status.Conditions) != len(nodeConditions(true)) || readyStatus(got) != corev1.ConditionFalse {
			t.Errorf("a strategic merge patch merges conditions by type, got %+v", got.Status.Conditions)
		}
		stale := []byte(`{"metadata":{"resourceVersion":"1"}}`)
		if _, err := nodes.Patch(t.Context(), "cp-2", types.MergePatchType, stale, metav1.PatchOptions{}); !apierrors.IsConflict(err) {
			t.Errorf("patch of an old resourceVersion: %v, want Conflict", err)
		}
		if _, err := nodes.Patch(t.Context(), "cp-9", types.MergePatchType, []byte(`{}`), metav1.PatchOptions{}); !apierrors.IsNotFound(err) {
			t.Errorf("patch of a missing node: %v, want NotFound", err)
		}
	})

	t.Run("etcd survives a patch of its pod", func(t *testing.T) {
		patch := []byte(`{"metadata":{"annotations":{"touched":"yes"}}}`)
		if _, err := c.CoreV1().Pods(metav1.NamespaceSystem).Patch(t.Context(), "etcd-cp-1", types.MergePatchType, patch,
			metav1.PatchOptions{}); err != nil {
			t.Fatal(err)
		}
		members, _, err := d.etcdMembers(t, f, "cp-1", d.clientCertificate(t, secret.EtcdCA))
		if err != nil || len(members) != 3 {
			t.Errorf("members %v, error %v", members, err)
		}
	})
}
