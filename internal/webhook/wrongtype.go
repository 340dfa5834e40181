package webhook

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/userinput"
)

// undecodable is the code with which controller-runtime answers a request with an object that it cannot decode: bad request.
const undecodable = 400

// explained names the fields of an object that a handler cannot decode. The API server calls mutating webhooks before it checks the types of
// the schema, so its own message never reaches the user.
type explained[T client.Object] struct {
	admission.Handler
	kind kind[T]
}

// Handle implements admission.Handler.
func (e explained[T]) Handle(ctx context.Context, request admission.Request) admission.Response {
	response := e.Handler.Handle(ctx, request)
	if response.Allowed || response.Result == nil || response.Result.Code != undecodable {
		return response
	}
	errs := userinput.FindWrongTypes(decodeJSON(request.Object.Raw), nil, empty[T]())
	if len(errs) == 0 {
		return response
	}
	result := apierrors.NewInvalid(infrav1.GroupVersion.WithKind(e.kind.name()).GroupKind(), request.Name, errs).Status()
	response.Result = &result
	return response
}
