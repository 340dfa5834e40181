package command

import (
	"fmt"
	"io"

	"k8s.io/apimachinery/pkg/runtime"
	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"
	controlplanev1 "sigs.k8s.io/cluster-api/api/controlplane/kubeadm/v1beta2"

	"sigs.k8s.io/cluster-api-provider-azure/internal/cli/environment"
	"sigs.k8s.io/cluster-api-provider-azure/internal/preview/manifests"
)

// readKubeadmConfig returns the kubeadmConfigSpec of the KubeadmControlPlane in a file, nil for no file.
func readKubeadmConfig(e *environment.Environment, in io.Reader, file string) (*bootstrapv1.KubeadmConfigSpec, error) {
	if file == "" {
		return nil, nil
	}
	documents, err := manifests.Files{Open: e.OpenFile, Folder: e.OpenFolder, Input: in}.Read([]string{file})
	if err != nil {
		return nil, fmt.Errorf("--kubeadm-control-plane: %w", err)
	}
	var out *bootstrapv1.KubeadmConfigSpec
	for _, d := range documents {
		kind := d.GroupVersionKind()
		if kind.Group != controlplanev1.GroupVersion.Group || kind.Kind != "KubeadmControlPlane" {
			continue
		}
		if kind.Version != controlplanev1.GroupVersion.Version {
			return nil, fmt.Errorf("--kubeadm-control-plane: %s: the KubeadmControlPlane %s has the apiVersion %s. Pass it with %s, as kubectl get prints it",
				file, d.GetName(), d.GetAPIVersion(), controlplanev1.GroupVersion)
		}
		if out != nil {
			return nil, fmt.Errorf("--kubeadm-control-plane: %s has more than one KubeadmControlPlane. Pass a file with one", file)
		}
		object := &controlplanev1.KubeadmControlPlane{}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(d.Object, object, true); err != nil {
			return nil, fmt.Errorf("--kubeadm-control-plane: %s: KubeadmControlPlane %s: %w", file, d.GetName(), err)
		}
		out = &object.Spec.KubeadmConfigSpec
	}
	if out == nil {
		return nil, fmt.Errorf("--kubeadm-control-plane: %s has no KubeadmControlPlane", file)
	}
	return out, nil
}
