import type { Json } from '../json.ts'
import type { Readiness } from '../ports.ts'

/** Response to a GET request: JSON or plain text. */
export type Page = { readonly status: number } & ({ readonly body: Json } | { readonly text: string })
export type Pages = ReadonlyMap<string, () => Page | Promise<Page>>

/** Pages `/healthz` (the process is alive) and `/readyz` (200 when ready, else 503 with the reasons). */
export function healthPages(source: { readiness(): Readiness | Promise<Readiness> }, version: string): Pages {
  const ready = async (): Promise<Page> => {
    const { problems } = await source.readiness()
    return problems.length === 0 ? { status: 200, body: { ready: true } } : { status: 503, body: { ready: false, problems } }
  }
  return new Map<string, () => Page | Promise<Page>>([
    ['/healthz', (): Page => ({ status: 200, body: { version } })],
    ['/readyz', ready],
  ])
}
