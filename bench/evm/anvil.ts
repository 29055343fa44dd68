// The other side of the comparison of interpreters: anvil as npm installed it, with the same contracts, used by `eth_call`.
import { once } from 'node:events'
import { Agent, request } from 'node:http'
import { systemClock } from '#lib/clock'
import { toHex } from '#lib/hex'
import type { Address } from '#types/ids'
import { anvilBinary } from '../../src/devnet/l1/anvilBinary.ts'
import { type GuardedChild, startGuarded } from '../../src/devnet/l1/guardedChild.ts'
import { freePort } from '../freePort.ts'
import { addressOf, caller, codeOf, coldSlots, placed } from './workloads.ts'
import { benchChainId, callGas } from './world.ts'

type Asked = { readonly method: string; readonly params: readonly unknown[] }
type Answer = { readonly result?: unknown; readonly error?: { readonly message: string } }

export interface BenchAnvil extends AsyncDisposable {
  readonly version: string
  /** @returns the output of the call, as hex @throws Error when it fails */
  call(to: Address, data: string): Promise<string>
  codeAt(address: Address): Promise<string>
}

/** slots that one request sets */
const slotsAtOnce = 5_000
const startMs = 15_000

/** JSON-RPC over one persistent connection with TCP_NODELAY. */
function createClient(port: number): (body: unknown) => Promise<unknown> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  return async (body) => {
    const text = JSON.stringify(body)
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }
    const sent = request({ host: '127.0.0.1', port, method: 'POST', agent, headers })
    const answered = once(sent, 'response')
    sent.end(text)
    const [response] = await answered
    const chunks: Buffer[] = []
    for await (const chunk of response) chunks.push(chunk)
    return JSON.parse(Buffer.concat(chunks).toString('utf8'))
  }
}

function resultOf({ result, error }: Answer): unknown {
  if (error) throw new Error(`anvil: ${error.message}`)
  return result
}

const argumentsAt = (port: number): readonly string[] => [
  ...['--quiet', '--no-mining', '--no-cors', '--no-request-size-limit'],
  ...['--host', '127.0.0.1', '--port', String(port), '--accounts', '0', '--hardfork', 'prague'],
  ...['--chain-id', String(benchChainId), '--gas-limit', String(callGas), '--base-fee', '0'],
]

/** Starts anvil on loopback with the bench's contracts and a number of cold slots; it ends when disposed, or with this process. */
export async function startBenchAnvil(slotCount: number): Promise<BenchAnvil> {
  const port = await freePort()
  const child = await startGuarded(systemClock, anvilBinary(), argumentsAt(port))
  const post = createClient(port)
  const ask = async (asked: Asked): Promise<unknown> => resultOf((await post({ jsonrpc: '2.0', id: 1, ...asked })) as Answer)
  const askAll = async (all: readonly Asked[]): Promise<void> => {
    for (const answer of (await post(all.map((asked, id) => ({ jsonrpc: '2.0', id, ...asked })))) as Answer[]) resultOf(answer)
  }

  const version = String(await whenReady(child, () => ask({ method: 'web3_clientVersion', params: [] })))
  for (const { address, contract } of placed) {
    await ask({ method: 'anvil_setCode', params: [address, toHex(codeOf(contract))] })
    await ask({ method: 'anvil_setNonce', params: [address, '0x1'] })
  }
  const holder = addressOf('ColdSlots')
  const slots = Array.from(coldSlots(slotCount), ([slot, value]) => ({
    method: 'anvil_setStorageAt',
    params: [holder, toHex(slot), toHex(value)],
  }))
  for (let from = 0; from < slots.length; from += slotsAtOnce) await askAll(slots.slice(from, from + slotsAtOnce))

  const gas = `0x${callGas.toString(16)}`
  return {
    version,
    call: async (to, data) => String(await ask({ method: 'eth_call', params: [{ from: caller, to, data, gas }, 'latest'] })),
    codeAt: async (address) => String(await ask({ method: 'eth_getCode', params: [address, 'latest'] })),
    [Symbol.asyncDispose]: () => child[Symbol.asyncDispose](),
  }
}

/** @throws Error of the last attempt, or with anvil's output when it ended */
async function whenReady(child: GuardedChild, attempt: () => Promise<unknown>): Promise<unknown> {
  let said: string | undefined
  void child.ended.then((text) => {
    said = text
  })
  const untilMs = performance.now() + startMs
  for (;;) {
    try {
      return await attempt()
    } catch (error) {
      if (said !== undefined) throw new Error(`anvil has ended: ${said}`, { cause: error })
      if (performance.now() > untilMs) throw error
      await systemClock.delay(20)
    }
  }
}
