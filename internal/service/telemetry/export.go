package telemetry

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"time"

	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	semconv "go.opentelemetry.io/otel/semconv/v1.41.0"

	"github.com/prometheus/client_golang/prometheus"
)

// The bounds on spans that wait to be sent.
const (
	maxSpans    = 4096 // waiting; more are dropped
	spansAtOnce = 512
	sendEvery   = 2 * time.Second
	sendTime    = 5 * time.Second // for one request; there is no retry
)

// tracesPath is the default path of collectors.
const tracesPath = "/v1/traces"

// checkTraces parses the address of a collector. Spans contain names of sessions and tools, so to
// another machine it must be https.
func checkTraces(address string) (string, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return "", errors.New("traces: want https://host/v1/traces, without user, password or query")
	}
	ip := net.ParseIP(u.Hostname())
	here := u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
	if u.Scheme != "https" && (u.Scheme != "http" || !here) {
		return "", errors.New("traces: want https:// (http:// only for this machine)")
	}
	if u.Path == "" || u.Path == "/" {
		u.Path = tracesPath
	}
	return u.String(), nil
}

// openSpans starts sending spans.
func openSpans(ctx context.Context, o Options, m *metrics) (*spans, error) {
	address, err := checkTraces(o.Traces)
	if err != nil {
		return nil, err
	}
	client := &http.Client{
		Timeout:   sendTime,
		Transport: &http.Transport{DialContext: o.dial, MaxIdleConns: 2, IdleConnTimeout: time.Minute, ForceAttemptHTTP2: true},
		CheckRedirect: func(*http.Request, []*http.Request) error {
			return errors.New("the collector sends us elsewhere")
		},
	}
	exporter, err := otlptracehttp.New(ctx,
		otlptracehttp.WithEndpointURL(address), otlptracehttp.WithHTTPClient(client), otlptracehttp.WithTimeout(sendTime),
		otlptracehttp.WithRetry(otlptracehttp.RetryConfig{}), otlptracehttp.WithCompression(otlptracehttp.GzipCompression),
		otlptracehttp.WithHeaders(map[string]string{}),
	)
	if err != nil {
		return nil, fmt.Errorf("traces: %w", err)
	}
	out := &quiet{SpanExporter: exporter, sent: m.spanCount.WithLabelValues("sent"), failed: m.spanCount.WithLabelValues("failed"), idle: client.CloseIdleConnections}
	provider := sdk.NewTracerProvider(
		sdk.WithBatcher(out, sdk.WithMaxQueueSize(maxSpans), sdk.WithMaxExportBatchSize(spansAtOnce), sdk.WithBatchTimeout(sendEvery), sdk.WithExportTimeout(sendTime)),
		sdk.WithSampler(sdk.AlwaysSample()), sdk.WithRawSpanLimits(sdk.NewSpanLimits()),
		sdk.WithResource(resource.NewWithAttributes(semconv.SchemaURL, semconv.ServiceName("floodmark"), semconv.ServiceVersion(o.Version))),
	)
	return newSpans(provider, m.spanCount.WithLabelValues("ended").Inc, o.Now), nil
}

// close ends all open spans and sends them, if the collector accepts them in time.
func (s *spans) close() {
	for _, t := range s.sessions {
		s.drop(t, s.now(), "stop")
	}
	ctx, cancel := context.WithTimeout(context.Background(), closeTime)
	defer cancel()
	_ = s.provider.Shutdown(ctx) // spans that were not sent are counted as failed
}

// A quiet is an exporter that counts failures instead of logging them, because a collector that is
// down must not fill the monitor's log.
type quiet struct {
	sdk.SpanExporter
	sent, failed prometheus.Counter
	idle         func()
}

// ExportSpans implements [sdk.SpanExporter].
func (q *quiet) ExportSpans(ctx context.Context, list []sdk.ReadOnlySpan) error {
	count := q.sent
	if err := q.SpanExporter.ExportSpans(ctx, list); err != nil {
		count = q.failed
	}
	count.Add(float64(len(list)))
	return nil
}

// Shutdown implements [sdk.SpanExporter].
func (q *quiet) Shutdown(ctx context.Context) error {
	defer q.idle()
	return q.SpanExporter.Shutdown(ctx)
}
