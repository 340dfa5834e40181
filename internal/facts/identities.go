package facts

import (
	"context"
	"errors"

	"k8s.io/apimachinery/pkg/util/validation/field"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

// FindMissingIdentities returns an error for each user-assigned identity whose ID is invalid or that does not exist in Azure. spec is the path
// of the identities. Identities that cannot be read are left out: whether they can be assigned is up to Azure. With a lent identity none is read,
// because the answer would tell its borrowers which identities exist: the plan is restricted to what the owner of the identity allows.
func (f *Facts) FindMissingIdentities(ctx context.Context, caller Caller, spec *field.Path, identities []infrav1.UserAssignedIdentity) (out field.ErrorList) {
	if caller.Lent {
		return nil
	}
	for i, identity := range identities {
		_, err := f.ReadUserAssignedClientID(ctx, caller, spec.Child("userAssignedIdentities").Index(i).Child("providerID"), identity.ProviderID)
		var missing *field.Error
		if errors.As(err, &missing) {
			out = append(out, missing)
		}
	}
	return out
}
