package identity

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/expiring"
)

// The established provider does not isolate tenants: each identity can sign in with the manager's own token, with every Secret and
// file, and with the identities of the manager's machine. Its clusters would stop working when a manager that isolates tenants
// replaces it. That manager therefore records once, before its first reconciliation, which namespaces use which credentials, and
// continues to accept exactly these. The record is a ConfigMap in the manager's namespace, which tenants cannot write. An identity
// that names another application, another Secret or another type is isolated like a new one.

// FormerRecordName is the name of the ConfigMap with the record.
const FormerRecordName = "capz-former-identities"

// operatorAccount is the ServiceAccount, in the namespace of the manager, that the Azure Service Operator of the established
// provider signs in with. Federated credentials for ASO resources name it.
const operatorAccount = "azureserviceoperator-default"

const (
	// formerTTL is the time after which the record is read again.
	formerTTL = time.Minute
	// maxFormer is the largest number of entries of the record, because a ConfigMap holds at most 1 MiB.
	maxFormer = 2000
)

// Former is a credential that a namespace used under the established provider.
type Former struct {
	// Namespace is the namespace of the AzureClusterIdentity or of the Secret.
	Namespace string `json:"namespace"`
	// Type is the type of the AzureClusterIdentity, or the type that corresponds to the Secret.
	Type     infrav1.IdentityType `json:"type"`
	TenantID string               `json:"tenantID,omitempty"`
	ClientID string               `json:"clientID"`
	// Secret is namespace and name of the Secret that an AzureClusterIdentity names.
	Secret   string `json:"secret,omitempty"`
	CertPath string `json:"certPath,omitempty"`
	// Operator is true for a Secret in the credential format of the Azure Service Operator, without an AzureClusterIdentity.
	Operator bool `json:"operator,omitempty"`
}

// FormerOf returns the credential of an identity.
func FormerOf(identity *infrav1.AzureClusterIdentity) Former {
	spec := identity.Spec
	out := Former{Namespace: identity.Namespace, Type: spec.Type, TenantID: trimNewline(spec.TenantID), ClientID: trimNewline(spec.ClientID),
		CertPath: spec.CertPath}
	if key, ok := SecretOf(identity); ok {
		out.Secret = key.String()
	}
	return out
}

// FormerOfSecret returns the credential of a Secret in the format of the Azure Service Operator. ok is false if it needs no
// permission, because the Secret contains the credential itself, or is not in that format.
func FormerOfSecret(secret *corev1.Secret) (former Former, ok bool) {
	text := func(name string) string { return trimNewline(string(secret.Data[name])) }
	if text(operatorClient) == "" || text(operatorSecret) != "" || len(secret.Data[operatorCertificate]) > 0 {
		return former, false
	}
	former = Former{Namespace: secret.Namespace, Type: infrav1.WorkloadIdentity, TenantID: text(operatorTenant),
		ClientID: text(operatorClient), Operator: true}
	if text(operatorMode) == podIdentity {
		former.Type = infrav1.UserAssignedMSI
	}
	return former, true
}

// NeedsRecord returns true if isolation would refuse the credential to its namespace.
func (f Former) NeedsRecord() bool {
	namespace, _, _ := strings.Cut(f.Secret, string(types.Separator))
	return namespace != f.Namespace
}

// FormerRecord returns the ConfigMap with these credentials in a namespace, and the number of credentials beyond its limit. It
// leaves out credentials that isolation does not refuse.
func FormerRecord(namespace string, formers []Former) (record *corev1.ConfigMap, left int) {
	record = &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: FormerRecordName},
		Data:       map[string]string{},
	}
	for _, former := range formers {
		if !former.NeedsRecord() {
			continue
		}
		// Marshalling a struct of strings and a bool does not fail.
		raw, _ := json.Marshal(former) //nolint:gosec // Former.Secret is the name of a Secret, and stored records have this key
		sum := sha256.Sum256(raw)
		key := former.Namespace + "." + hex.EncodeToString(sum[:8])
		if _, there := record.Data[key]; !there && len(record.Data) >= maxFormer {
			left++
			continue
		}
		record.Data[key] = string(raw)
	}
	return record, left
}

// formers reads the record.
type formers struct {
	kubernetes client.Reader
	key        types.NamespacedName
	record     *expiring.Cache[map[Former]bool]
}

func newFormers(kubernetes client.Reader, namespace string, now func() time.Time) *formers {
	return &formers{kubernetes: kubernetes, key: types.NamespacedName{Namespace: namespace, Name: FormerRecordName},
		record: expiring.New[map[Former]bool](formerTTL, 0, now)}
}

// isRecorded returns true if the record has a credential. A record that the manager may not read counts as empty. Without a namespace there
// is none.
func (f *formers) isRecorded(ctx context.Context, former Former) (bool, error) {
	if f.key.Namespace == "" {
		return false, nil
	}
	record, err := f.record.Fetch(ctx, FormerRecordName, f.readRecord)
	if err != nil {
		return false, fmt.Errorf("get ConfigMap %s, which lists the credentials in use before the upgrade: %w", f.key, err)
	}
	return record[former], nil
}

func (f *formers) readRecord(ctx context.Context) (map[Former]bool, error) {
	record := &corev1.ConfigMap{}
	if err := f.kubernetes.Get(ctx, f.key, record); err != nil && !apierrors.IsNotFound(err) && !apierrors.IsForbidden(err) {
		return nil, err
	}
	out := map[Former]bool{}
	for _, raw := range record.Data {
		var entry Former
		if json.Unmarshal([]byte(raw), &entry) == nil {
			out[entry] = true
		}
	}
	return out, nil
}

// UsesFormer returns true if an identity may use more than isolation allows because it did so under the established provider.
func (p *Provider) UsesFormer(ctx context.Context, identity *infrav1.AzureClusterIdentity) (bool, error) {
	former := FormerOf(identity)
	if p.mayUseManagersOwn(identity.Namespace) || !former.NeedsRecord() {
		return false, nil
	}
	return p.formers.isRecorded(ctx, former)
}
