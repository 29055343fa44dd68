import { serveL1 } from '#devnet/l1Server'
import { createRecordedL1, type L1Recording, type RecordedL1 } from '#devnet/recordedL1'
import { startProxy, type TcpProxy } from './proxy.ts'

/** Wrong labels of an L1. `finalized-above-safe`: the head is labelled finalized, genesis safe. */
export type LabelLie = 'none' | 'finalized-above-safe'

/** Exchanges the labels in a request, so that the response has the wrong label. */
export const withLie = (lie: LabelLie, body: string): string =>
  lie === 'none' ? body : body.replaceAll('"finalized"', '"latest"').replaceAll('"safe"', '"earliest"')

/** Recorded L1 for other processes: JSON-RPC and beacon API on two addresses, each behind a proxy whose failures a test controls. */
export interface ProcessL1 extends AsyncDisposable {
  readonly l1: RecordedL1
  readonly rpc: TcpProxy
  readonly beacon: TcpProxy
  lie(lie: LabelLie): void
}

export async function startProcessL1(recording: L1Recording, head: number): Promise<ProcessL1> {
  await using starting = new AsyncDisposableStack()
  const l1 = createRecordedL1(recording, { head })
  let current: LabelLie = 'none'
  const server = starting.use(await serveL1((exchange) => l1.reply({ ...exchange, body: withLie(current, exchange.body) }), 0))
  const port = Number(new URL(server.url).port)
  const rpc = starting.use(await startProxy(port))
  const beacon = starting.use(await startProxy(port))
  const parts = starting.move()
  return {
    l1,
    rpc,
    beacon,
    lie(lie) {
      current = lie
    },
    [Symbol.asyncDispose]: () => parts.disposeAsync(),
  }
}
