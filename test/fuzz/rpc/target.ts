// A devnet in a process, for fuzz:rpc. It sends its URLs, facts of its chain, every error that it logs, and its memory on request.
import { createWalletClient, defineChain, type Hex, http, publicActions } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { createExecution } from '#blockchain/execution'
import { createWasmEvm } from '#evm/wasmEvm'
import { systemClock } from '#lib/clock'
import type { Log, LogFields } from '#lib/log'
import { scheduleTo, smallChain } from '#test/harness/chain/blocks'
import { serveEngine } from '#test/harness/engine/server'
import { createMemoryKv } from '#test/harness/store/memoryKv'
import { startDevnetWith } from '../../../src/devnet/startDevnet.ts'
import { blockParams, engineParams } from './good.ts'
import type { FromTarget, GoodParams } from './messages.ts'

const report = (message: FromTarget): void => void process.send?.(message)
const textOf = (value: unknown): string => (value instanceof Error ? (value.stack ?? value.message) : JSON.stringify(value)) ?? 'undefined'

/** Only errors are sent: no caller may be able to cause one. */
const log: Log = {
  trace: () => {},
  debug: () => {},
  info: () => {},
  warn: () => {},
  error: (message: string, { error, ...fields }: LogFields = {}) =>
    report({ kind: 'error', text: `${message} ${JSON.stringify(fields)} ${textOf(error)}` }),
  child: () => log,
}

/** Init code of a contract whose creation logs 32 bytes under one topic. */
const logging: Hex = '0x6001600052600260206000a100'
const transfers = 5
/** Number of transactions that are signed but not sent, in order, from one sender. */
const unsent = 200

await using devnet = await startDevnetWith({ clock: systemClock, random: Math.random, fetch, log }, { l1: 'memory', blockTimeSec: 1 })
const [payer, payee] = devnet.accounts
if (payer === undefined || payee === undefined) throw new Error('devnet has no accounts')
const chain = defineChain({
  ...{ id: devnet.chainId, name: 'devnet', nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 } },
  rpcUrls: { default: { http: [devnet.urls.rpc] } },
})
const wallet = createWalletClient({ account: privateKeyToAccount(payer.privateKey), chain, transport: http() }).extend(publicActions)
const held = { hashes: [] as Hex[], addresses: [payer.address, payee.address], raws: [] as Hex[] }
for (let nonce = 0; nonce < transfers; nonce++) {
  const request = nonce === 0 ? { data: logging, gas: 200_000n } : { to: payee.address, value: 1n, gas: 21_000n }
  const raw = await wallet.signTransaction(await wallet.prepareTransactionRequest({ ...request, nonce }))
  const receipt = await wallet.waitForTransactionReceipt({
    hash: await wallet.sendRawTransaction({ serializedTransaction: raw }),
    pollingInterval: 100,
  })
  held.raws.push(raw)
  held.hashes.push(receipt.transactionHash, receipt.blockHash)
}
/** The devnet has no engine port: this one is over another chain, which has no other client. */
const small = smallChain(scheduleTo('jovian'))
const execution = createExecution({
  kv: createMemoryKv(),
  evm: createWasmEvm(),
  ...small,
  genesis: () => small.genesis,
  clock: systemClock,
  log,
})
await using engine = await serveEngine({ execution, engine: execution, config: small.config })

/** Calls a method that viem does not name. */
const call = <T>(method: string, ...params: unknown[]): Promise<T> => wallet.request({ method, params } as never) as Promise<T>
const { maxFeePerGas, maxPriorityFeePerGas } = await wallet.estimateFeesPerGas()
const sender = privateKeyToAccount(payee.privateKey)
const fresh = await Promise.all(
  Array.from({ length: unsent }, (_, nonce) =>
    sender.signTransaction({
      ...{ type: 'eip1559', chainId: devnet.chainId, nonce, to: payer.address, value: 1n, gas: 21_000n },
      ...{ maxFeePerGas: 10n * maxFeePerGas, maxPriorityFeePerGas },
    }),
  ),
)
const good: GoodParams = {
  ...(await engineParams(engine.url, small.config.schedule, execution.published.heads.unsafe.hash)),
  ...(await blockParams(call, (await wallet.getTransactionReceipt({ hash: held.hashes[0] ?? '0x' })).blockHash)),
  eth_sendRawTransaction: fresh.map((raw) => [raw]),
  eth_sendRawTransactionSync: fresh.map((raw) => [raw, 2_000]),
  eth_sendRawTransactionConditional: fresh.map((raw) => [raw, {}]),
  trace_rawTransaction: fresh.map((raw) => [raw, ['trace', 'stateDiff']]),
}
const urls = { http: devnet.urls.rpc, ws: devnet.urls.ws, rollup: devnet.urls.rollup, engine: engine.url }
report({ kind: 'ready', urls, held: { ...held, good } })

process.on('message', () => {
  globalThis.gc?.()
  const { heapUsed, rss } = process.memoryUsage()
  report({ kind: 'memory', heapMb: heapUsed / 2 ** 20, rssMb: rss / 2 ** 20 })
})
process.on('disconnect', () => process.exit(0))
await devnet.ended
