package server

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/sim/body"
	"sigs.k8s.io/cluster-api-provider-azure/sim/store"
)

// serveManagedIdentity answers the instance metadata service and the App Service endpoint (/msi/token). Both give a token for a stored
// user-assigned identity, or for the first principal when none is named.
func (s *Server) serveManagedIdentity(w http.ResponseWriter, r *http.Request) bool {
	q := r.URL.Query()
	switch strings.TrimRight(strings.ToLower(r.URL.Path), "/") {
	case "/metadata/identity/oauth2/token":
		if !strings.EqualFold(r.Header.Get("Metadata"), "true") {
			writeJSON(w, 400, body.Object{"error": "invalid_request", "error_description": "Required metadata header not specified"})
			return true
		}
	case "/msi/token":
		if r.Header.Get("X-IDENTITY-HEADER") == "" {
			writeJSON(w, 401, body.Object{"statusCode": 401, "message": "The header X-IDENTITY-HEADER is missing."})
			return true
		}
	case "/metadata/instance":
		writeJSON(w, 200, body.Object{"compute": body.Object{"azEnvironment": "AzurePublicCloud", "location": s.opts.Locations[0],
			"subscriptionId": s.opts.Subscriptions[0]}})
		return true
	default:
		return false
	}
	resource, refused := s.entra.requestedAudience("", q.Get("resource"), s.opts.Tenant)
	if refused != nil {
		writeJSON(w, 400, body.Object{"error": refused.name, "error_description": fmt.Sprintf("AADSTS%d: %s", refused.code, refused.message)})
		return true
	}
	client, mirid := s.opts.Principals[0].ClientID, ""
	byID := q.Get("msi_res_id")
	if byID == "" {
		byID = q.Get("mi_res_id")
	}
	if want := q.Get("client_id") + q.Get("object_id") + byID; want != "" {
		id := s.entra.findIdentity(func(r *store.Resource) bool {
			return strings.EqualFold(body.String(r.Body, "properties.clientId"), want) ||
				strings.EqualFold(body.String(r.Body, "properties.principalId"), want) || store.SameID(r.ID, want)
		})
		switch {
		case id != nil:
			client, mirid = body.String(id.Body, "properties.clientId"), id.ID
		case strings.EqualFold(want, client):
		default:
			writeJSON(w, 400, body.Object{"error": "invalid_request", "error_description": "Identity not found"})
			return true
		}
	}
	now := time.Now()
	writeJSON(w, 200, body.Object{
		"access_token": s.entra.issueToken(client, resource, mirid), "client_id": client,
		"expires_in": strconv.Itoa(int(tokenLifetime.Seconds()) - 1),
		"expires_on": strconv.FormatInt(now.Add(tokenLifetime).Unix(), 10), "ext_expires_in": strconv.Itoa(int(tokenLifetime.Seconds()) - 1),
		"not_before": strconv.FormatInt(now.Unix(), 10), "resource": resource, "token_type": "Bearer",
	})
	return true
}

// serveMetadata answers the cloud metadata az and others read.
func (s *Server) serveMetadata(w http.ResponseWriter, r *http.Request) bool {
	if strings.TrimRight(strings.ToLower(r.URL.Path), "/") != "/metadata/endpoints" {
		return false
	}
	base := "https://" + r.Host
	cloud := body.Object{
		"name": "AzureCloud", "portal": "https://portal.azure.com", "resourceManager": base + "/", "graph": "https://graph.windows.net/",
		"graphAudience":            "https://graph.windows.net/",
		"microsoftGraphResourceId": "https://graph.microsoft.com/", "media": "https://rest.media.azure.net",
		"batch": "https://batch.core.windows.net/", "sqlManagement": "https://management.core.windows.net:8443/",
		"gallery": "https://gallery.azure.com/", "activeDirectoryDataLake": "https://datalake.azure.net/",
		"vmImageAliasDoc": "https://raw.githubusercontent.com/Azure/azure-rest-api-specs/master/arm-compute/quickstart-templates/aliases.json",
		"authentication": body.Object{"loginEndpoint": base,
			"audiences": []string{"https://management.core.windows.net/", "https://management.azure.com/"}, "tenant": "common",
			"identityProvider": "AAD"},
		"suffixes": body.Object{"storage": "core.windows.net", "keyVaultDns": "vault.azure.net",
			"sqlServerHostname": "database.windows.net", "acrLoginServer": "azurecr.io", "mysqlServerEndpoint": "mysql.database.azure.com",
			"azureDataLakeStoreFileSystem": "azuredatalakestore.net"},
	}
	if r.URL.Query().Get("api-version") == "2019-05-01" {
		writeJSON(w, 200, []any{cloud})
	} else {
		writeJSON(w, 200, cloud)
	}
	return true
}
