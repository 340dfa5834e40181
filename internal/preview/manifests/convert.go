package manifests

import (
	"context"
	"fmt"
	"maps"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	controlplanev1beta1 "sigs.k8s.io/cluster-api/api/controlplane/kubeadm/v1beta1"
	controlplanev1 "sigs.k8s.io/cluster-api/api/controlplane/kubeadm/v1beta2"
	clusterv1beta1 "sigs.k8s.io/cluster-api/api/core/v1beta1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/core/webhooks/conversion"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/nearest"
	"sigs.k8s.io/cluster-api-provider-azure/internal/preview/kubernetes"
	"sigs.k8s.io/cluster-api-provider-azure/internal/userinput"
)

// Object is an object of a manifest, in the version that the controllers read.
type Object struct {
	client.Object
	// Kind is the kind in the manifest. The object itself may have none.
	Kind string
	// HasTopology is set for a Cluster whose objects Cluster API makes from a ClusterClass.
	HasTopology bool
	// UnknownFields has a message for each field that the kind of the object does not have.
	UnknownFields []string
}

// ReadObjects returns the objects of manifests that controllers read. Those without a namespace are in the given one. The names are those of
// Read.
func (f Files) ReadObjects(names []string, namespace string) (out []Object, err error) {
	documents, err := f.Read(names)
	if err != nil {
		return nil, err
	}
	scheme, err := kubernetes.NewScheme()
	if err != nil {
		return nil, err
	}
	for _, document := range documents {
		object, err := ToObject(scheme, document)
		if err != nil {
			return nil, err
		}
		if object == nil {
			continue
		}
		if object.GetNamespace() == "" && document.GetKind() != "Namespace" {
			object.SetNamespace(namespace)
		}
		out = append(out, Object{Object: object, Kind: document.GetKind(), HasTopology: document.HasTopology(),
			UnknownFields: FindUnknownFields(scheme, document)})
	}
	return out, nil
}

// ToObject returns the object that a document is, in the version that the controllers read. It is nil for a kind that no controller reads.
func ToObject(scheme *runtime.Scheme, d Document) (client.Object, error) {
	kind := d.GroupVersionKind()
	switch kind.Group {
	case kubernetes.ControlPlaneKind.Group:
		if kind.Kind != kubernetes.ControlPlaneKind.Kind {
			return nil, nil
		}
		if err := checkControlPlane(d); err != nil {
			return nil, err
		}
		object := d.DeepCopy()
		object.SetGroupVersionKind(kubernetes.ControlPlaneKind)
		return object, nil
	case clusterv1.GroupVersion.Group:
		if kind.Version == clusterv1beta1.GroupVersion.Version {
			return convertFormer(d)
		}
	case infrav1.GroupVersion.Group:
		if !scheme.Recognizes(kind) {
			return nil, fmt.Errorf("%s: %s %s: there is no kind %s", d.Source, d.GetKind(), d.GetName(), kind)
		}
		return d.DeepCopy(), nil // Its defaults depend on the fields that the manifest has.
	case corev1.GroupName:
	default:
		return nil, nil
	}
	if !scheme.Recognizes(kind) {
		return nil, nil
	}
	return decode(scheme, kind, d)
}

// checkControlPlane returns the error of a KubeadmControlPlane with fields of wrong types.
func checkControlPlane(d Document) error {
	if errs := userinput.FindWrongTypes(d.Object, nil, newTyped(nil, d.GroupVersionKind())); len(errs) > 0 {
		return fmt.Errorf("%s: %s %s: %w", d.Source, d.GetKind(), d.GetName(), errs.ToAggregate())
	}
	return nil
}

// FindUnknownFields returns a message for each field of a document that its kind does not have. The API server drops such a field, and the
// status of a manifest.
func FindUnknownFields(scheme *runtime.Scheme, d Document) (out []string) {
	typed := newTyped(scheme, d.GroupVersionKind())
	if typed == nil {
		return nil
	}
	content := maps.Clone(d.Object)
	delete(content, "status")
	for _, unknown := range userinput.FindUnknownFields(content, typed) {
		message := fmt.Sprintf("%s is not a field of %s and has no effect", unknown.Path, d.GetKind())
		if names := nearest.FindNames(unknown.Name, unknown.Known); len(names) > 0 {
			message += fmt.Sprintf(". Did you mean %s?", names[0])
		}
		out = append(out, message)
	}
	return out
}

// newTyped returns an empty object of a kind that controllers read, nil for other kinds.
func newTyped(scheme *runtime.Scheme, kind schema.GroupVersionKind) any {
	former := kind.Version == clusterv1beta1.GroupVersion.Version
	switch {
	case kind.GroupKind() == kubernetes.ControlPlaneKind.GroupKind() && former:
		return &controlplanev1beta1.KubeadmControlPlane{}
	case kind.GroupKind() == kubernetes.ControlPlaneKind.GroupKind():
		return &controlplanev1.KubeadmControlPlane{}
	case kind.Group == clusterv1.GroupVersion.Group && former:
		return formerKinds[kind.Kind]
	}
	object, err := scheme.New(kind)
	if err != nil {
		return nil
	}
	return object
}

// formerKinds are the kinds of Cluster API's version v1beta1 that are converted.
var formerKinds = map[string]any{"Cluster": &clusterv1beta1.Cluster{}, "Machine": &clusterv1beta1.Machine{},
	"MachineDeployment": &clusterv1beta1.MachineDeployment{}, "MachinePool": &clusterv1beta1.MachinePool{}}

func decode(scheme *runtime.Scheme, kind schema.GroupVersionKind, d Document) (client.Object, error) {
	object, err := scheme.New(kind)
	if err != nil {
		return nil, err
	}
	if err := userinput.Convert(d.Object, object); err != nil {
		return nil, fmt.Errorf("%s: %s %s: %w", d.Source, d.GetKind(), d.GetName(), err)
	}
	if secret, is := object.(*corev1.Secret); is {
		mergeStringData(secret)
	}
	typed, is := object.(client.Object)
	if !is {
		return nil, fmt.Errorf("%s: %s %s is not an object", d.Source, d.GetKind(), d.GetName())
	}
	return typed, nil
}

// convertFormer converts an object of Cluster API's version v1beta1 with the functions of its conversion webhook.
func convertFormer(d Document) (client.Object, error) {
	var object client.Object
	var err error
	switch d.GetKind() {
	case "Cluster":
		object, err = convertAs(d, &clusterv1.Cluster{}, conversion.ConvertClusterV1Beta1ToHub)
	case "Machine":
		object, err = convertAs(d, &clusterv1.Machine{}, conversion.ConvertMachineV1Beta1ToHub)
	case "MachineDeployment":
		object, err = convertAs(d, &clusterv1.MachineDeployment{}, conversion.ConvertMachineDeploymentV1Beta1ToHub)
	case "MachinePool":
		object, err = convertAs(d, &clusterv1.MachinePool{}, conversion.ConvertMachinePoolV1Beta1ToHub)
	}
	return object, err
}

func convertAs[F any, H client.Object](d Document, hub H, convert func(context.Context, *F, H) error) (client.Object, error) {
	former := new(F)
	err := userinput.Convert(d.Object, former)
	if err == nil {
		err = convert(context.Background(), former, hub)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %s %s: %w", d.Source, d.GetKind(), d.GetName(), err)
	}
	return hub, nil
}

// mergeStringData moves the values of stringData to data, as the API server does.
func mergeStringData(secret *corev1.Secret) {
	for key, value := range secret.StringData {
		if secret.Data == nil {
			secret.Data = map[string][]byte{}
		}
		secret.Data[key] = []byte(value)
	}
	secret.StringData = nil
}
