import { endpointOf } from '#lib/endpoint'
import type { Io } from '../command.ts'
import { cliFault } from '../faults.ts'
import type { FlagValues } from '../flags.ts'
import { nodeAddressOf } from './nodeAddress.ts'
import { NodeClient, type NodeClientDeps } from './nodeClient.ts'
import { sendByHttp } from './sendByHttp.ts'
import { sendByIpc } from './sendByIpc.ts'

/** Flags that name the operator's methods of a running node. */
export const operatorFlags = ['operator.url', 'ipc.path'] as const

/** A snapshot of its heap stops the main thread for seconds; a busy one is what an operator looks into. */
const timeoutMs = 60_000

type Operator = { readonly client: NodeClient; readonly name: string }

/** Returns where the methods of the operator are: the URL, the Unix socket, or the rollup port on this machine. */
function operatorOf(given: FlagValues<(typeof operatorFlags)[number]>, io: Io): Operator {
  const deps: NodeClientDeps = { fetch: sendByHttp, clock: io.clock, signal: io.signal, timeoutMs }
  const { 'operator.url': url, 'ipc.path': path } = given
  if (url === undefined && path !== undefined) {
    const endpoint = { url: 'http://localhost/', headers: {}, name: path }
    return { client: new NodeClient({ ...deps, fetch: sendByIpc(path) }, endpoint), name: path }
  }
  const [, rollup] = nodeAddressOf({ url: undefined, 'metrics-url': undefined }, io.env).pages
  const endpoint = endpointOf(url === undefined ? (rollup ?? new URL('http://127.0.0.1:7545')) : new URL(url))
  return { client: new NodeClient(deps, endpoint), name: endpoint.name }
}

/**
 * Calls a method of the operator.
 * @throws Fault NODE_SILENT without an answer; NO_OPERATOR when the method is not served; NODE_REFUSED with another error (fatal)
 */
export async function callOperator(
  io: Io,
  given: FlagValues<(typeof operatorFlags)[number]>,
  method: string,
  params: readonly unknown[],
): Promise<unknown> {
  const { client, name } = operatorOf(given, io)
  const reached = await client.batch([{ method, params }])
  if (reached.kind === 'silent') throw cliFault('NODE_SILENT', { name, reason: reached.reason })
  const [answer] = reached.value
  if (answer?.kind === 'result') return answer.result
  if (answer?.kind === 'error' && answer.code === -32601) throw cliFault('NO_OPERATOR', { name })
  throw cliFault('NODE_REFUSED', { name, method, reason: answer?.kind === 'error' ? answer.message : (answer?.reason ?? 'no answer') })
}
