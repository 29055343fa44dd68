import type { Json } from '../json.ts'
import type { Readiness } from '../ports.ts'

/** Response to a GET request: JSON, plain text, or content of a type of its own. */
export type Page = { readonly status: number } & (
  | { readonly body: Json }
  | { readonly text: string }
  | { readonly content: string; readonly type: string; readonly headers: Readonly<Record<string, string>> }
)
/** Answers a GET request. @param query after the question mark */
export type PageHandler = (query: URLSearchParams) => Page | Promise<Page>
/** by path */
export type Pages = ReadonlyMap<string, PageHandler>

/** Pages `/healthz` (the process is alive) and `/readyz` (200 when ready, else 503 with the reasons). */
export function healthPages(source: { readiness(): Readiness | Promise<Readiness> }, version: string): Pages {
  const ready = async (): Promise<Page> => {
    const { problems, state } = await source.readiness()
    const shown = state === undefined ? {} : { state }
    return problems.length === 0
      ? { status: 200, body: { ready: true, ...shown } }
      : { status: 503, body: { ready: false, problems, ...shown } }
  }
  return new Map<string, () => Page | Promise<Page>>([
    ['/healthz', (): Page => ({ status: 200, body: { version } })],
    ['/readyz', ready],
  ])
}
