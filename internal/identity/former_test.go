package identity

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

// managers is the namespace of the manager and of the record.
const managers = "capz-system"

// formerWays returns all ways to sign in that isolation takes from a namespace, each with what makes it another one.
func formerWays(certificate string) map[string]struct {
	spec, edited func(*infrav1.AzureClusterIdentitySpec)
	// operator is a Secret as the Azure Service Operator reads it, in place of an identity.
	operator, editedOperator map[string]string
	account                  string
	refused                  Code
} {
	type way = struct {
		spec, edited             func(*infrav1.AzureClusterIdentitySpec)
		operator, editedOperator map[string]string
		account                  string
		refused                  Code
	}
	spec := func(changes ...func(*infrav1.AzureClusterIdentitySpec)) func(*infrav1.AzureClusterIdentitySpec) {
		return func(s *infrav1.AzureClusterIdentitySpec) {
			for _, change := range changes {
				change(s)
			}
		}
	}
	kind := func(kind infrav1.IdentityType) func(*infrav1.AzureClusterIdentitySpec) {
		return func(s *infrav1.AzureClusterIdentitySpec) { s.Type, s.ClientSecret = kind, corev1.SecretReference{} }
	}
	elsewhere := func(s *infrav1.AzureClusterIdentitySpec) { s.ClientSecret.Namespace = "others" }
	client := func(s *infrav1.AzureClusterIdentitySpec) { s.ClientID = "33333333-3333-3333-3333-333333333333" }
	directory := func(s *infrav1.AzureClusterIdentitySpec) { s.TenantID = "44444444-4444-4444-4444-444444444444" }
	name := func(s *infrav1.AzureClusterIdentitySpec) { s.ClientSecret.Name = "another" }
	file := func(s *infrav1.AzureClusterIdentitySpec) { s.CertPath = certificate }
	secret := func(client string, more ...string) map[string]string {
		out := map[string]string{operatorSubscription: "sub", operatorTenant: tenant, operatorClient: client}
		for i := 0; i < len(more); i += 2 {
			out[more[i]] = more[i+1]
		}
		return out
	}
	return map[string]way{
		"workload identity": {spec: spec(kind(infrav1.WorkloadIdentity)), edited: spec(kind(infrav1.WorkloadIdentity), client),
			refused: ServiceAccountNotFound},
		"workload identity, another directory": {spec: spec(kind(infrav1.WorkloadIdentity)),
			edited: spec(kind(infrav1.WorkloadIdentity), directory), refused: ServiceAccountNotFound},
		"managed identity": {spec: spec(kind(infrav1.UserAssignedMSI)), edited: spec(kind(infrav1.UserAssignedMSI), client),
			refused: NotAllowedByTenancy},
		"certificate in a file": {spec: spec(kind(infrav1.ServicePrincipalCertificate), file),
			edited: spec(kind(infrav1.ServicePrincipalCertificate), file, client), refused: NotAllowedByTenancy},
		"Secret of another namespace": {spec: spec(elsewhere), edited: spec(elsewhere, name), refused: NotAllowedByTenancy},
		"documents": {operator: secret(application), editedOperator: secret("33333333-3333-3333-3333-333333333333"),
			account: managers + "/azureserviceoperator-default", refused: ServiceAccountNotFound},
		"documents, managed identity": {operator: secret(application, operatorMode, podIdentity),
			editedOperator: secret("33333333-3333-3333-3333-333333333333", operatorMode, podIdentity), refused: NotAllowedByTenancy},
	}
}

// TestFormerCredentialsKeepWorking: namespaces keep the credentials that they signed in with under the established provider, and get no
// others.
func TestFormerCredentialsKeepWorking(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "cert.pem")
	if err := os.WriteFile(path, newCertificate(t), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, way := range formerWays(path) {
		for situation, test := range map[string]struct {
			reason            string
			namespace         string
			recorded, edited  bool
			removed, trusted  bool
			works             bool
			withoutNamespace  bool
			recordedElsewhere bool
		}{
			"recorded": {reason: "no cluster becomes unready by the upgrade", recorded: true, works: true},
			"recorded, trusted": {reason: "the application of documents trusts the operator's ServiceAccount only", recorded: true,
				trusted: true, works: true},
			"new": {reason: "tenants are isolated"},
			"edited": {reason: "a tenant with the right to edit an identity cannot choose another credential", recorded: true,
				edited: true},
			"entry removed":             {reason: "the operator ends the permission", recorded: true, removed: true},
			"of another namespace":      {reason: "the record is for one namespace", recorded: true, recordedElsewhere: true},
			"manager without namespace": {reason: "it has no record", recorded: true, withoutNamespace: true},
		} {
			t.Run(name+"/"+situation, func(t *testing.T) {
				stored := identityOf(way.spec)
				if test.edited && way.edited != nil {
					stored = identityOf(way.edited)
				}
				var secret, before *corev1.Secret
				if way.operator != nil {
					before = secretOf("ids", bytesOf(way.operator))
					secret = before.DeepCopy()
					if test.edited {
						secret.Data = bytesOf(way.editedOperator)
					}
				} else {
					secret = secretOf("others", map[string][]byte{"clientSecret": []byte(password)})
				}
				another := secret.DeepCopy()
				another.Name = "another"
				objects := []client.Object{stored, secret, another}
				options := Options{FormerNamespace: managers, CertificateFolder: folder, TokenFile: path}
				if test.withoutNamespace {
					options.FormerNamespace = ""
				}
				if test.trusted {
					options.Tenancy = Trusted
				}
				if test.recorded {
					former := FormerOf(identityOf(way.spec))
					if before != nil {
						former, _ = FormerOfSecret(before)
					}
					if test.recordedElsewhere {
						former.Namespace = "elsewhere"
					}
					record, left := FormerRecord(managers, []Former{former, former})
					if len(record.Data) != 1 || left != 0 {
						t.Fatalf("the record has %v and leaves %d out, want one entry", record.Data, left)
					}
					if test.removed {
						record.Data = nil
					}
					objects = append(objects, record)
				}
				asked := map[string]bool{}
				provider := New(tokensFor(t, asked, objects...), options)
				var err error
				if way.operator != nil {
					_, _, err = provider.ResolveSecret(t.Context(), client.ObjectKeyFromObject(secret), infrav1.PublicCloud)
				} else {
					err = provider.CheckCredential(t.Context(), stored)
				}
				switch {
				case test.works && err != nil:
					t.Errorf("%s: %v", test.reason, err)
				case !test.works && CodeOf(err) != way.refused:
					t.Errorf("%s: %v, want %s", test.reason, err, way.refused)
				}
				if account := way.account; test.works && (len(asked) > 0 != (account != "") || account != "" && !asked[account]) {
					t.Errorf("%s: asked for tokens of %v, want %q", test.reason, asked, account)
				}
			})
		}
	}
}

// TestFormerRecordIsBounded records more identities than fit into a ConfigMap, and identities that need no record.
func TestFormerRecordIsBounded(t *testing.T) {
	var formers []Former
	for i := range maxFormer + 5 {
		identity := identityOf(func(s *infrav1.AzureClusterIdentitySpec) {
			s.Type, s.ClientID, s.ClientSecret = infrav1.WorkloadIdentity, fmt.Sprintf("%036d", i), corev1.SecretReference{}
		})
		identity.Namespace = strings.Repeat("n", 63)
		formers = append(formers, FormerOf(identity))
	}
	record, left := FormerRecord(managers, append([]Former{FormerOf(identityOf(nil))}, formers...))
	if len(record.Data) != maxFormer || left != 5 {
		t.Errorf("%d entries and %d left out, want %d and 5", len(record.Data), left, maxFormer)
	}
	size := 0
	for key, value := range record.Data {
		size += len(key) + len(value)
	}
	if size > 900_000 {
		t.Errorf("the record has %d bytes, a ConfigMap takes 1 MiB", size)
	}
}

// TestFormerRecordIsReadAgain lets the administrator remove an entry while the manager runs, and the API server fail.
func TestFormerRecordIsReadAgain(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	identity := identityOf(func(s *infrav1.AzureClusterIdentitySpec) {
		s.Type, s.ClientSecret = infrav1.UserAssignedMSI, corev1.SecretReference{}
	})
	record, _ := FormerRecord(managers, []Former{FormerOf(identity)})
	reads, failure := 0, error(nil)
	api := interceptor.NewClient(newKubernetes(t, record, identity), interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
			if _, ok := object.(*corev1.ConfigMap); ok {
				reads++
				if failure != nil {
					return failure
				}
			}
			return c.Get(ctx, key, object, options...)
		},
	})
	provider := New(api, Options{FormerNamespace: managers, Now: func() time.Time { return now }})
	forbidden := apierrors.NewForbidden(schema.GroupResource{Resource: "configmaps"}, FormerRecordName, nil)
	for _, step := range []struct {
		reason string
		after  time.Duration
		do     func()
		works  bool
		reads  int
	}{
		{reason: "it is recorded", works: true, reads: 1},
		{reason: "the record is kept for a minute", after: 59 * time.Second, do: func() {
			if err := api.Delete(t.Context(), record); err != nil {
				t.Fatal(err)
			}
		}, works: true},
		{reason: "the operator ended the permission", after: time.Second, reads: 1},
		{reason: "an API server that cannot be asked refuses for now", after: time.Minute,
			do: func() { failure = apierrors.NewServiceUnavailable("x") }, reads: 1},
		{reason: "a restricted installation has no right to the record", after: time.Minute, do: func() { failure = forbidden }, reads: 1},
	} {
		now, reads = now.Add(step.after), 0
		if step.do != nil {
			step.do()
		}
		err := provider.CheckCredential(t.Context(), identity)
		if (err == nil) != step.works || reads != step.reads {
			t.Errorf("%s: %v after %d reads, want works %t and %d", step.reason, err, reads, step.works, step.reads)
		}
		if apierrors.IsServiceUnavailable(failure) != (err != nil && CodeOf(err) == "") {
			t.Errorf("%s: %v is to be tried again only if the API server failed", step.reason, err)
		}
	}
}

// TestFormerRecordIsReadOnce simulates an API server that does not answer for a minute; it expects that a caller that gives up does not
// wait for it, and that the others share its answer.
func TestFormerRecordIsReadOnce(t *testing.T) {
	former := Former{Namespace: "tenant", Type: infrav1.UserAssignedMSI, ClientID: application}
	for name, failure := range map[string]error{"answered": nil, "failed": apierrors.NewServiceUnavailable("x")} {
		t.Run(name, func(t *testing.T) {
			record, _ := FormerRecord(managers, []Former{former})
			stored := newKubernetes(t, record)
			synctest.Test(t, func(t *testing.T) {
				reads := 0
				api := interceptor.NewClient(stored, interceptor.Funcs{
					Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
						reads++
						<-time.After(time.Minute)
						if failure != nil {
							return failure
						}
						return c.Get(ctx, key, object, options...)
					},
				})
				formers, begun := newFormers(api, managers, time.Now), time.Now()
				var callers sync.WaitGroup
				for range 5 {
					callers.Go(func() {
						if recorded, err := formers.isRecorded(t.Context(), former); recorded != (failure == nil) || !errors.Is(err, failure) {
							t.Errorf("got %t, %v", recorded, err)
						}
					})
				}
				callers.Go(func() {
					ctx, cancel := context.WithTimeout(t.Context(), time.Second)
					defer cancel()
					if _, err := formers.isRecorded(ctx, former); !errors.Is(err, context.DeadlineExceeded) || time.Since(begun) > time.Second {
						t.Errorf("a caller that gave up after a second waited for %s: %v", time.Since(begun), err)
					}
				})
				callers.Wait()
				if waited := time.Since(begun); reads != 1 || waited > time.Minute {
					t.Errorf("the record was read %d times in %s", reads, waited)
				}
			})
		})
	}
}

func bytesOf(texts map[string]string) map[string][]byte {
	out := map[string][]byte{}
	for key, value := range texts {
		out[key] = []byte(value)
	}
	return out
}

// tokensFor returns an API server with the operator's ServiceAccount. It notes of which ServiceAccounts tokens were asked for.
func tokensFor(t *testing.T, asked map[string]bool, objects ...client.Object) client.WithWatch {
	return interceptor.NewClient(newKubernetes(t, objects...), interceptor.Funcs{
		SubResourceCreate: func(_ context.Context, _ client.Client, _ string, object, request client.Object,
			_ ...client.SubResourceCreateOption) error {
			key := client.ObjectKeyFromObject(object)
			asked[key.String()] = true
			if key != (types.NamespacedName{Namespace: managers, Name: operatorAccount}) {
				return apierrors.NewNotFound(schema.GroupResource{Resource: "serviceaccounts"}, key.Name)
			}
			request.(*authenticationv1.TokenRequest).Status = authenticationv1.TokenRequestStatus{Token: "x",
				ExpirationTimestamp: metav1.NewTime(time.Now().Add(time.Hour))}
			return nil
		},
	})
}
