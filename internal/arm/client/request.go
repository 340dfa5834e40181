package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/streaming"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/tracing"
)

// Request is one request to Resource Manager.
type Request struct {
	// Method is the HTTP method.
	Method string
	// ID is the resource of the request, also for errors and budgets. SubPath follows it in the URL.
	ID      arm.ID
	SubPath string
	// APIVersion and Query make up the query string.
	APIVersion string
	Query      url.Values
	// URL is a complete URL that Azure returned, used instead of ID, SubPath, APIVersion and Query. A URL of another host is refused.
	URL string
	// Body is JSON or marshals to it; nil sends no body.
	Body any
	// IfMatch is the etag that the resource must still have; "" sends none.
	IfMatch string

	// page is set for the pages of a collection.
	page bool
}

// isLaterPage reports whether a request reads a page after the first one of a list.
func (r Request) isLaterPage() bool { return r.page && r.URL != "" }

// Response is a successful answer.
type Response struct {
	// Status is the HTTP status, 2xx.
	Status int
	// ETag is the header of that name, "" if absent.
	ETag string
	// RetryAfter is the wait time before polling that Azure asked for; 0 if none.
	RetryAfter time.Duration
	// RetryAfterExact means that the wait time was in milliseconds. Azure Resource Manager sends seconds.
	RetryAfterExact bool
	// AsyncOperation and Location are the URLs with the status of a long-running operation; "" if absent.
	AsyncOperation string
	Location       string
	// RequestID is x-ms-request-id, CorrelationID is x-ms-correlation-request-id, by which Azure's activity log finds the request.
	RequestID, CorrelationID string
	// Body is the JSON body, nil when empty.
	Body json.RawMessage
}

// Do sends one request and returns its answer. The error is an *arm.Error for every status other than 2xx.
func (c *Client) Do(ctx context.Context, request Request) (*Response, error) {
	response, _, err := c.doAndRecord(ctx, request)
	return response, err
}

// doAndRecord sends a request and calls OnRequestEnd. For a page of a collection it returns the page instead of a body.
func (c *Client) doAndRecord(ctx context.Context, request Request) (*Response, page, error) {
	if refused := c.refuseWrite(request); refused != nil {
		return nil, page{}, refused
	}
	start := c.options.Now()
	ctx, span := tracing.StartRequest(ctx, request.Method, request.ID)
	response, elements, err := c.sendRequest(ctx, request)
	endRequestSpan(span, response, err)
	if c.options.OnRequestEnd != nil {
		c.options.OnRequestEnd(newRequestRecord(request, response, err, c.options.Now().Sub(start)))
	}
	return response, elements, err
}

// endRequestSpan ends the span of a request with the status, request ID and error of Azure's answer.
func endRequestSpan(span tracing.Span, response *Response, err error) {
	status, requestID := 0, arm.RequestID(err)
	var failure *arm.Error
	switch {
	case response != nil:
		status, requestID = response.Status, response.RequestID
	case errors.As(err, &failure):
		status = failure.Status
	}
	tracing.EndRequest(span, status, requestID, err)
}

// ReserveWrite checks that a write of a resource would be sent now. It returns nil if there is a token; the token is kept for some
// seconds if others wait. Otherwise it returns the error of the write, which then has a place in the queue. body is the body of the
// PUT, nil for a deletion.
func (c *Client) ReserveWrite(method string, id arm.ID, body any) error {
	request := Request{Method: method, ID: id, Body: body}
	err := c.options.Budgets.reserveToken(c.options.Principal, c.tenant, request, false)
	if err != nil && c.options.OnRequestEnd != nil {
		c.options.OnRequestEnd(newRequestRecord(request, nil, err, 0))
	}
	return err
}

func (c *Client) sendRequest(ctx context.Context, request Request) (response *Response, elements page, err error) {
	fail := func(code, message string) (*Response, page, error) {
		return nil, page{}, &arm.Error{Method: request.Method, ID: request.ID, Code: code, Message: message}
	}
	if refused := refuseDotSegments(request); refused != nil {
		return nil, page{}, refused
	}
	if budgetErr := c.options.Budgets.takeToken(c.options.Principal, c.tenant, request); budgetErr != nil {
		return nil, page{}, budgetErr
	}
	parent := ctx
	ctx, cancel := context.WithTimeout(ctx, c.options.Timeout)
	defer cancel()

	target, err := c.requestURL(request)
	if err != nil {
		return fail(CodeForeignURL, err.Error())
	}
	raw, err := runtime.NewRequest(ctx, request.Method, target)
	if err != nil {
		return fail(CodeInvalidRequest, err.Error())
	}
	if err := setBody(raw, request); err != nil {
		return fail(CodeInvalidRequest, "the body cannot be marshalled: "+err.Error())
	}
	raw.Raw().Header.Set("Accept", "application/json")
	if request.IfMatch != "" {
		raw.Raw().Header.Set("If-Match", request.IfMatch)
	}

	runtime.SkipBodyDownload(raw) // sendRequest reads it, and once
	answer, err := c.pipeline.Do(raw)
	if err != nil {
		var refused *arm.Error
		switch {
		case errors.As(err, &refused):
			out := *refused
			out.Method, out.ID = request.Method, request.ID
			return nil, page{}, &out
		case parent.Err() != nil:
			return fail(CodeCanceled, parent.Err().Error())
		}
		return fail(CodeConnectionFailed, withoutURL(err))
	}
	defer func() { _ = answer.Body.Close() }()
	success := isSuccess(answer.StatusCode)
	var body []byte
	if request.page && success {
		elements, err = readPage(newBoundedReader(answer.Body, maxBody))
	} else {
		body, err = readBody(answer.Body, success)
	}
	switch {
	case err == nil || isInvalidAnswer(err):
	case parent.Err() != nil:
		return fail(CodeCanceled, parent.Err().Error())
	default:
		return fail(CodeConnectionFailed, "the answer broke off: "+withoutURL(err))
	}
	after, exact := retryAfter(answer.Header, c.options.Now())
	c.options.Budgets.learnFromAnswer(c.options.Principal, request, answer.StatusCode, answer.Header, body, after)
	requestID := headerOf(answer, "X-Ms-Request-Id")
	if !success {
		failure := ParseError(body)
		if errors.Is(err, errTooLarge) {
			failure.Message = err.Error()
		}
		failure.Method, failure.ID, failure.Status = request.Method, request.ID, answer.StatusCode
		failure.RequestID, failure.RetryAfter = requestID, after
		if failure.Code == "" {
			failure.Code = truncateText(answer.Header.Get("X-Ms-Error-Code"), maxCode)
		}
		if foreign := foreignAnswer(request, answer.StatusCode, body, failure); foreign != nil {
			foreign.RequestID, foreign.RetryAfter = requestID, after
			return nil, page{}, foreign
		}
		return nil, page{}, failure
	}
	if err != nil {
		return nil, page{}, &arm.Error{Method: request.Method, ID: request.ID, Status: answer.StatusCode, Code: CodeInvalidAnswer,
			Message: "it cannot be read: " + err.Error(), RequestID: requestID}
	}
	if foreign := foreignAnswer(request, answer.StatusCode, body, nil); foreign != nil {
		foreign.RequestID = requestID
		return nil, page{}, foreign
	}
	response = &Response{
		Status: answer.StatusCode, ETag: headerOf(answer, "ETag"), RetryAfter: after, RetryAfterExact: exact, RequestID: requestID,
		CorrelationID:  headerOf(answer, "X-Ms-Correlation-Request-Id"),
		AsyncOperation: firstNonEmpty(headerOf(answer, "Azure-AsyncOperation"), headerOf(answer, "Operation-Location")),
		Location:       headerOf(answer, "Location"),
	}
	if len(bytes.TrimSpace(body)) > 0 {
		response.Body = body
	}
	return response, elements, nil
}

// refuseDotSegments refuses a request whose path has a segment "." or "..", because it would be sent as another path: RFC 3986 section
// 5.2.4. No resource has such an ID, so the error of a read or a deletion is "not found". Other characters are escaped.
func refuseDotSegments(request Request) error {
	if request.URL != "" {
		return nil
	}
	for segment := range strings.SplitSeq(string(request.ID)+"/"+request.SubPath, "/") {
		if segment != "." && segment != ".." {
			continue
		}
		refused := &arm.Error{Method: request.Method, ID: request.ID, Code: CodeInvalidRequest, Status: http.StatusBadRequest,
			Message: fmt.Sprintf("%s has the segment %q and would be read as another path, so the request is not sent. Correct the name in the spec",
				request.ID, segment)}
		if request.Method == http.MethodGet || request.Method == http.MethodDelete {
			refused.Status, refused.Code = http.StatusNotFound, "ResourceNotFound"
		}
		return refused
	}
	return nil
}

func (c *Client) requestURL(request Request) (string, error) {
	if request.URL != "" {
		return c.resolveAnswerURL(request.URL)
	}
	path := string(request.ID)
	if request.SubPath != "" {
		path += "/" + request.SubPath
	}
	segments := strings.Split(strings.TrimLeft(path, "/"), "/")
	for i := range segments {
		segments[i] = url.PathEscape(segments[i])
	}
	query := url.Values{}
	for key, values := range request.Query {
		query[key] = values
	}
	if version := c.apiVersion(request); version != "" {
		query.Set("api-version", version)
	}
	// Azure does not accept "+" for a blank in filters.
	return c.endpoint + "/" + strings.Join(segments, "/") + "?" + strings.ReplaceAll(query.Encode(), "+", "%20"), nil
}

func setBody(raw *policy.Request, request Request) error {
	if request.Body == nil {
		return nil
	}
	body, ok := request.Body.(json.RawMessage)
	if !ok {
		var err error
		if body, err = json.Marshal(request.Body); err != nil {
			return err
		}
	}
	return raw.SetBody(streaming.NopCloser(bytes.NewReader(body)), "application/json")
}

// withoutURL returns the cause of a transport error without the URL, which is long and may be signed.
func withoutURL(err error) string {
	var inURL *url.Error
	if errors.As(err, &inURL) {
		return inURL.Err.Error()
	}
	return err.Error()
}

func firstNonEmpty(values ...string) string {
	for _, value := range values {
		if value != "" {
			return value
		}
	}
	return ""
}

// isRead reports whether a method changes nothing.
func isRead(method string) bool { return method == http.MethodGet || method == http.MethodHead }
