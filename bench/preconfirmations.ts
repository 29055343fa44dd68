// A devnet under load, before Denim, which has no flashblocks: time from the call that sends a transaction to the sequencer until the second node, which follows flashblocks, has its
// receipt. A sample of the transactions is watched by polling their receipts. npm run bench -- preconfirmations [--seconds 60] [--rate 200]
import { devnetAccounts, testMnemonic } from '#devnet/accounts'
import { fromHex, toHex } from '#lib/hex'
import { parseAddress } from '#types/ids'
import { signTransaction } from '#types/signing'
import { call, type DevnetProcess, sleep, startDevnet } from './devnet/process.ts'
import type { Row } from './format.ts'

export type PreconfirmationsBench = { readonly seconds?: number; readonly rate?: number; readonly l1?: string }

const chainId = 901n
const accountCount = 100
/** one of this many transactions is watched */
const watchedOf = 10
const [pollMs, giveUpMs, warmUpSec] = [5, 10_000, 5]

type Receipt = { readonly blockHash: string } | null

/** Raw transfers of all accounts in turn. */
function signAll(count: number): readonly string[] {
  const { accounts } = devnetAccounts(testMnemonic, accountCount)
  const keys = accounts.map(({ privateKey }) => fromHex(privateKey))
  const to = parseAddress(accounts[0]?.address ?? '')
  return Array.from({ length: count }, (_, at) => {
    const fields = { type: 2, chainId, nonce: BigInt(Math.floor(at / keys.length)), gasLimit: 21_000n, to, value: 1n } as const
    const fees = { data: new Uint8Array(), maxFeePerGas: 10_000_000_000n, maxPriorityFeePerGas: 1_000_000n, accessList: [] }
    return toHex(signTransaction({ ...fields, ...fees }, keys[at % keys.length] ?? new Uint8Array()).raw)
  })
}

type Seen = { readonly ms: number; readonly isSealed: boolean }

/** Sends a transaction and waits for its receipt on the other node. */
async function sendAndWait({ urls }: DevnetProcess, raw: string): Promise<Seen> {
  const startMs = performance.now()
  const hash = await call<string>(urls.rpc, 'eth_sendRawTransaction', raw)
  while (performance.now() - startMs < giveUpMs) {
    const receipt = await call<Receipt>(urls.verifier, 'eth_getTransactionReceipt', hash)
    if (receipt) return { ms: performance.now() - startMs, isSealed: !/^0x0+$/.test(receipt.blockHash) }
    await sleep(pollMs)
  }
  throw new Error(`no receipt of ${hash} after ${giveUpMs} ms`)
}

export async function run({ seconds = 60, rate = 200, l1 = 'memory' }: PreconfirmationsBench = {}): Promise<readonly Row[]> {
  const raws = signAll(rate * (seconds + warmUpSec))
  await using devnet = await startDevnet(l1, accountCount, ['--fork', 'cobalt'])
  const watched: Promise<Seen>[] = []
  const sent: Promise<unknown>[] = []
  const startMs = performance.now()
  for (const [at, raw] of raws.entries()) {
    const waitMs = startMs + (at * 1_000) / rate - performance.now()
    if (waitMs > 1) await sleep(waitMs)
    if (at < rate * warmUpSec || at % watchedOf !== 0) sent.push(call(devnet.urls.rpc, 'eth_sendRawTransaction', raw))
    else watched.push(sendAndWait(devnet, raw))
  }
  await Promise.all(sent)
  const seen = await Promise.all(watched)
  const sorted = seen.map(({ ms }) => ms).sort((a, b) => a - b)
  const part = (share: number): number => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
  const sealedFirst = seen.filter(({ isSealed }) => isSealed).length
  return [
    {
      name: `send → receipt on the second node, ${rate} transactions/s for ${seconds} s`,
      ...{ value: part(0.5), unit: 'ms', runs: [part(0), part(0.5), part(1)] },
      facts: { p90Ms: part(0.9), p99Ms: part(0.99), watched: seen.length, sealedFirst },
    },
  ]
}
