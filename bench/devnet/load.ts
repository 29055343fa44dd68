import { createHash } from 'node:crypto'
import { Agent, request } from 'node:http'
import { concatBytes } from '#lib/bytes'
import { fromHex } from '#lib/hex'
import { addressOfKey } from '#lib/secp256k1'
import { addressFromBytes, type Hash } from '#types/ids'
import { signTransaction } from '#types/signing'

export type LoadAccount = { readonly address: string; readonly privateKey: `0x${string}` }

/** Bodies of JSON-RPC batches, made before the measurement: transfers of all accounts in turn, each with its next nonce. */
export type Load = {
  readonly bodies: readonly Buffer[]
  readonly perBody: number
  /** of the transactions of each body */
  readonly hashes: readonly (readonly Hash[])[]
}

/** Milliseconds since 1970 by transaction hash. */
export type SendTimes = ReadonlyMap<string, number>

const [gasLimit, tipWei, capWei] = [21_000n, 1_000_000n, 10_000_000_000n]
const recipients = 500

/** Receivers that exist after the first transfers, so that the bench measures transfers and not new accounts. */
const recipientAt = (index: number) =>
  addressFromBytes(
    addressOfKey(
      createHash('sha256')
        .update(`recipient ${index % recipients}`)
        .digest(),
    ),
  )

/** Cost: some 60 µs a transaction. @param perBody transactions in one request */
export function signLoad(accounts: readonly LoadAccount[], chainId: number, count: number, perBody = 100): Load {
  const keys = accounts.map(({ privateKey }) => fromHex(privateKey))
  const to = Array.from({ length: recipients }, (_, index) => recipientAt(index))
  const hashes: Hash[][] = []
  const raw = (at: number): string => {
    const key = keys[at % keys.length] ?? new Uint8Array()
    const signed = signTransaction(
      {
        type: 2,
        chainId: BigInt(chainId),
        nonce: BigInt(Math.floor(at / keys.length)),
        gasLimit,
        to: to[at % recipients] ?? null,
        value: 1n,
        data: new Uint8Array(),
        maxFeePerGas: capWei,
        maxPriorityFeePerGas: tipWei,
        accessList: [],
      },
      key,
    )
    const body = Math.floor(at / perBody)
    hashes[body] = [...(hashes[body] ?? []), signed.hash]
    return Buffer.from(signed.raw).toString('hex')
  }
  const bodies = Array.from({ length: Math.ceil(count / perBody) }, (_, nth) => {
    const calls = Array.from(
      { length: perBody },
      (__, at) => `{"jsonrpc":"2.0","id":${at},"method":"eth_sendRawTransaction","params":["0x${raw(nth * perBody + at)}"]}`,
    )
    return Buffer.from(`[${calls.join(',')}]`)
  })
  return { bodies, perBody, hashes }
}

export type Sent = {
  readonly sent: number
  readonly refused: number
  readonly firstRefusal: string | undefined
  readonly lateMs: number
  readonly times: SendTimes
}

/**
 * Sends bodies at an even rate over a few connections, until all are sent or the signal is aborted.
 * @returns the numbers of sent and of refused transactions
 */
export async function sendLoad(url: string, { bodies, perBody: size, hashes }: Load, perSec: number, signal: AbortSignal): Promise<Sent> {
  const agent = new Agent({ keepAlive: true, maxSockets: 2 })
  const pauseMs = (1_000 * size) / perSec
  const startMs = performance.now()
  let [sent, refused, lateMs] = [0, 0, 0]
  let firstRefusal: string | undefined
  const times = new Map<string, number>()
  let waiting: Promise<void> = Promise.resolve()
  for (const [nth, body] of bodies.entries()) {
    if (signal.aborted) break
    const wait = startMs + nth * pauseMs - performance.now()
    if (wait > 1) await new Promise((resolve) => setTimeout(resolve, wait))
    else lateMs = Math.max(lateMs, -wait)
    const sentMs = performance.timeOrigin + performance.now()
    for (const hash of hashes[nth] ?? []) times.set(hash, sentMs)
    const before = waiting
    waiting = post(agent, url, body).then((answer) => {
      const errors = answer.split('"error"').length - 1
      sent += size
      refused += errors
      if (errors > 0) firstRefusal ??= answer.slice(answer.indexOf('"error"'), answer.indexOf('"error"') + 200)
    })
    waiting.catch(() => undefined)
    await before // two requests overlap
  }
  await waiting
  agent.destroy()
  return { sent, refused, firstRefusal, lateMs, times }
}

function post(agent: Agent, url: string, body: Buffer): Promise<string> {
  return new Promise((resolve, reject) => {
    const asked = request(
      url,
      { agent, method: 'POST', headers: { 'content-type': 'application/json', 'content-length': body.length } },
      (response) => {
        const parts: Uint8Array[] = []
        response.on('data', (part: Buffer) => void parts.push(part))
        response.on('end', () => resolve(Buffer.from(concatBytes(...parts)).toString('latin1')))
        response.on('error', reject)
      },
    )
    asked.on('error', reject)
    asked.end(body)
  })
}
