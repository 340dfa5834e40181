package harness

import (
	"os/exec"
	"path/filepath"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

// PauseCluster pauses a Cluster, or ends its pause.
func (s *Stage) PauseCluster(cluster string, paused bool) {
	s.T.Helper()
	ChangeObject(s, &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: cluster}}, func(c *clusterv1.Cluster) { c.Spec.Paused = &paused })
}

// IsPaused reports whether the condition Paused is True.
func IsPaused[T Conditioned](object T) bool {
	return FindCondition(object, clusterv1.PausedCondition).Status == metav1.ConditionTrue
}

// IsMovable reports whether clusterctl may move the object.
func IsMovable[T client.Object](object T) bool {
	_, blocked := object.GetAnnotations()[infrav1.BlockMoveAnnotation]
	return !blocked
}

// MoveObjects moves objects as clusterctl move does. The caller gives their types and names only, owners first: the objects are made
// in the other stage as they are, but for status and UIDs, and then deleted here without their finalizers.
func (s *Stage) MoveObjects(to *Stage, objects []client.Object) {
	s.T.Helper()
	uids := map[types.UID]types.UID{}
	for _, named := range objects {
		object := named.DeepCopyObject().(client.Object)
		s.ReadObject(object, object.GetName())
		old := object.GetUID()
		object.SetNamespace(to.Namespace)
		object.SetResourceVersion("")
		object.SetUID("")
		object.SetCreationTimestamp(metav1.Time{})
		object.SetManagedFields(nil)
		owners := object.GetOwnerReferences()
		for i := range owners {
			owners[i].UID = uids[owners[i].UID]
		}
		object.SetOwnerReferences(owners)
		to.CreateObject(object)
		uids[old] = object.GetUID()
	}
	for _, named := range slices.Backward(objects) {
		object := named.DeepCopyObject().(client.Object)
		ChangeObject(s, object, func(o client.Object) {
			setAnnotation(o, "clusterctl.cluster.x-k8s.io/delete-for-move", "")
			o.SetFinalizers(nil)
		})
		s.deleteObject(object, object.GetName())
		s.Eventually(object.GetName()+" is gone", func() bool {
			return apierrors.IsNotFound(s.Client.Get(s.T.Context(), client.ObjectKeyFromObject(object), object))
		})
	}
}

// DescribeCluster returns the output of clusterctl describe for a Cluster.
func (s *Stage) DescribeCluster(cluster string) string {
	s.T.Helper()
	root, err := ModuleDir("")
	if err != nil {
		s.T.Fatal(err)
	}
	path := filepath.Join(s.T.TempDir(), "kubeconfig")
	config := s.Environment.Config
	kubeconfig := clientcmdapi.NewConfig()
	kubeconfig.Clusters["c"] = &clientcmdapi.Cluster{Server: config.Host, CertificateAuthorityData: config.CAData}
	kubeconfig.AuthInfos["u"] = &clientcmdapi.AuthInfo{ClientCertificateData: config.CertData, ClientKeyData: config.KeyData}
	kubeconfig.Contexts["x"] = &clientcmdapi.Context{Cluster: "c", AuthInfo: "u"}
	kubeconfig.CurrentContext = "x"
	if err := clientcmd.WriteToFile(*kubeconfig, path); err != nil {
		s.T.Fatal(err)
	}
	program := filepath.Join(root, "bin", "clusterctl")
	output, err := exec.Command(program, "describe", "cluster", cluster, "--namespace", s.Namespace, "--kubeconfig", path,
		"--color=false").CombinedOutput()
	if err != nil {
		s.T.Fatalf("clusterctl describe: %v\n%s", err, output)
	}
	return string(output)
}

func setAnnotation(object client.Object, key, value string) {
	annotations := object.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[key] = value
	object.SetAnnotations(annotations)
}
