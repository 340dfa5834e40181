package bridge

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	cloudv1 "sigs.k8s.io/cluster-api/test/infrastructure/inmemory/pkg/cloud/api/v1alpha1"
	inmemory "sigs.k8s.io/cluster-api/test/infrastructure/inmemory/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"sigs.k8s.io/cluster-api-provider-azure/lab/kubeapi"
)

// staticPods are the components kubeadm runs on each control-plane machine. KubeadmControlPlane
// reads their readiness and reaches etcd through the pod named etcd-<node>.
var staticPods = []string{"kube-apiserver", "kube-controller-manager", "kube-scheduler", "etcd"}

func podName(component, node string) string { return component + "-" + node }

// startControlPlane creates or revives the static pods of a machine and makes its etcd a member.
// The caller holds w.mu.
func (w *workload) startControlPlane(ctx context.Context, m *member) error {
	if !m.externalEtcd {
		name := podName("etcd", m.node.Name)
		cert, err := w.pki.etcd.issueCertificate(m.node.Name, []string{m.node.Name, name, "localhost", "127.0.0.1"}, serverAuth, clientAuth)
		if err != nil {
			return err
		}
		w.podCerts[name] = cert
	}
	if w.podCerts[""] == nil {
		cert, err := w.pki.cluster.issueCertificate("kube-apiserver", []string{"kubernetes", "localhost", "127.0.0.1"}, serverAuth)
		if err != nil {
			return err
		}
		w.podCerts[""] = cert
	}
	for _, component := range staticPods {
		pod := staticPod(component, m.node.Name, m.node.Status.NodeInfo.KubeletVersion)
		if component == "etcd" {
			if m.externalEtcd {
				continue
			}
			if err := w.joinEtcd(ctx, pod); err != nil {
				return err
			}
		}
		if err := w.setPodReady(ctx, pod, true); err != nil {
			return err
		}
	}
	return w.electLeader(ctx)
}

// stopControlPlane marks the static pods as not answering. The caller holds w.mu.
func (w *workload) stopControlPlane(ctx context.Context, m *member) error {
	delete(w.podCerts, podName("etcd", m.node.Name))
	var errs []error
	for _, component := range staticPods {
		errs = append(errs, w.setPodReady(ctx, staticPod(component, m.node.Name, ""), false))
	}
	return errors.Join(append(errs, w.electLeader(ctx))...)
}

// removeControlPlane deletes the static pods and the etcd member. The caller holds w.mu.
func (w *workload) removeControlPlane(ctx context.Context, m *member) error {
	delete(w.podCerts, podName("etcd", m.node.Name))
	var errs []error
	for _, component := range staticPods {
		errs = append(errs, deleteIfThere(ctx, w.client, &corev1.Pod{}, metav1.NamespaceSystem, podName(component, m.node.Name)))
	}
	return errors.Join(append(errs, w.electLeader(ctx))...)
}

func staticPod(component, node, version string) *corev1.Pod {
	image := "registry.k8s.io/" + component + ":" + version
	if component == "etcd" {
		image = "registry.k8s.io/etcd"
	}
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: metav1.NamespaceSystem,
			Name:      podName(component, node),
			UID:       kubeapi.NewUID(),
			Labels:    map[string]string{"component": component, "tier": "control-plane"},
			// The mirror annotation keeps a node drain away from the pod.
			Annotations: map[string]string{"kubernetes.io/config.source": "file", corev1.MirrorPodAnnotationKey: "lab"},
		},
		Spec: corev1.PodSpec{
			NodeName:   node,
			Containers: []corev1.Container{{Name: component, Image: image}},
		},
	}
}

// setPodReady writes the pod's conditions, creating the pod when it does not exist and should be ready.
func (w *workload) setPodReady(ctx context.Context, pod *corev1.Pod, ready bool) error {
	status := corev1.PodStatus{
		Phase:             corev1.PodRunning,
		Conditions:        []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.Now()}},
		ContainerStatuses: []corev1.ContainerStatus{{Name: pod.Spec.Containers[0].Name, Image: pod.Spec.Containers[0].Image, Ready: ready}},
	}
	if !ready {
		status.Conditions[0].Status, status.Conditions[0].Reason = corev1.ConditionFalse, "NodeNotReady"
	}
	there := &corev1.Pod{}
	err := w.client.Get(ctx, client.ObjectKeyFromObject(pod), there)
	switch {
	case apierrors.IsNotFound(err) && ready:
		pod.Status = status
		return w.client.Create(ctx, pod)
	case apierrors.IsNotFound(err):
		return nil
	case err != nil:
		return err
	}
	there.Status = status
	return w.client.Update(ctx, there)
}

// joinEtcd gives the pod the identity of a new member of the cluster's etcd, as the in-memory etcd
// server reads it from annotations.
func (w *workload) joinEtcd(ctx context.Context, pod *corev1.Pod) error {
	members, err := w.etcdMembers(ctx)
	if err != nil {
		return err
	}
	cluster, taken := "", map[string]bool{"0": true}
	for _, p := range members {
		cluster = p.Annotations[cloudv1.EtcdClusterIDAnnotationName]
		taken[p.Annotations[cloudv1.EtcdMemberIDAnnotationName]] = true
	}
	if cluster == "" {
		cluster = newEtcdID(taken)
	}
	pod.Annotations[cloudv1.EtcdClusterIDAnnotationName] = cluster
	pod.Annotations[cloudv1.EtcdMemberIDAnnotationName] = newEtcdID(taken)
	return nil
}

func newEtcdID(taken map[string]bool) string {
	for {
		if id := strconv.FormatUint(uint64(rand.Uint32()), 10); !taken[id] {
			return id
		}
	}
}

// etcdMembers lists the etcd pods that KubeadmControlPlane has not removed from the member list.
func (w *workload) etcdMembers(ctx context.Context) ([]corev1.Pod, error) {
	var pods corev1.PodList
	if err := w.client.List(ctx, &pods, client.InNamespace(metav1.NamespaceSystem),
		client.MatchingLabels{"component": "etcd", "tier": "control-plane"}); err != nil {
		return nil, fmt.Errorf("list etcd members: %w", err)
	}
	var members []corev1.Pod
	for _, p := range pods.Items {
		if _, removed := p.Annotations[cloudv1.EtcdMemberRemoved]; !removed {
			members = append(members, p)
		}
	}
	return members, nil
}

// electLeader makes sure that one of the members which answer leads: a VM that is deleted or stopped
// without handing over leaves etcd without a leader until the others elect one.
func (w *workload) electLeader(ctx context.Context) error {
	members, err := w.etcdMembers(ctx)
	if err != nil {
		return err
	}
	var latest time.Time
	led := false
	var candidate *corev1.Pod
	for i := range members {
		p := &members[i]
		answers := w.podCerts[p.Name] != nil
		// The member with the latest date leads.
		if t, err := time.Parse(time.RFC3339, p.Annotations[cloudv1.EtcdLeaderFromAnnotationName]); err == nil && !t.Before(latest) {
			latest, led = t, answers
		}
		if answers && (candidate == nil || p.Name < candidate.Name) {
			candidate = p
		}
	}
	if led || candidate == nil {
		return nil
	}
	from := time.Now().Truncate(time.Second)
	if !from.After(latest) {
		from = latest.Add(time.Second)
	}
	candidate.Annotations[cloudv1.EtcdLeaderFromAnnotationName] = from.Format(time.RFC3339)
	return w.client.Update(ctx, candidate)
}

func deleteIfThere(ctx context.Context, c inmemory.Client, obj client.Object, namespace, name string) error {
	obj.SetNamespace(namespace)
	obj.SetName(name)
	if err := c.Delete(ctx, obj); err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("delete %T %s: %w", obj, name, err)
	}
	return nil
}
