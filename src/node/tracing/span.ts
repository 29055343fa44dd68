import { randomBytes } from 'node:crypto'

export type AttributeValue = string | number | boolean

/** A finished span. Times are milliseconds since 1970. */
export type Span = {
  /** 32 hex digits */
  readonly traceId: string
  /** 16 hex digits */
  readonly spanId: string
  readonly parentSpanId?: string
  readonly name: string
  readonly startMs: number
  readonly endMs: number
  readonly attributes: Readonly<Record<string, AttributeValue>>
  /** absent: it succeeded */
  readonly error?: string
}

/** Receiver of finished spans. */
export type SpanSink = { add(spans: readonly Span[]): void }

export const newSpanId = (): string => randomBytes(8).toString('hex')
export const newTraceId = (): string => randomBytes(16).toString('hex')
