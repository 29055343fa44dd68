import { batcherFault, type RefusalReason } from '#batcher/faults'
import type { AccountNonces, BatcherL1, Inclusion, L1Tip } from '#batcher/ports'
import { toHex } from '#lib/hex'
import type { Address } from '#types/ids'
import { bigintField, has, hashField, listOf, numberField, objectOf, ShapeError } from '#types/jsonShape'
import { devnetFault } from './faults.ts'
import { askRpc, type DevnetRpcDeps } from './l1/devnetRpc.ts'

/** Error messages by which geth, anvil and others report a known transaction. */
const known = /already (?:known|imported|exists)|known transaction/i

/** Error messages by which clients refuse a transaction; the first match counts. */
const refusals: readonly (readonly [RegExp, RefusalReason])[] = [
  [/nonce (?:is )?too low|old ?nonce/i, 'nonce-used'],
  [/underpriced|fee (?:cap )?(?:is )?(?:too low|less than)|less than block|fee too low/i, 'underpriced'],
  [/insufficient (?:funds|balance)|not enough (?:funds|balance)|exceeds (?:balance|allowance)/i, 'no-funds'],
]

export function refusalReason(message: string): RefusalReason {
  return refusals.find(([pattern]) => pattern.test(message))?.[1] ?? 'other'
}

/** Returns the fees of the next block as the client computes them: the entry after the newest block. */
function nextFees(json: unknown): { readonly baseFeeWei: bigint; readonly blobBaseFeeWei: bigint } {
  const history = objectOf(json, 'fee history')
  const last = (key: string): bigint => bigintField({ [key]: listOf(history[key], key).at(-1) }, key)
  return { baseFeeWei: last('baseFeePerGas'), blobBaseFeeWei: has(history, 'baseFeePerBlobGas') ? last('baseFeePerBlobGas') : 1n }
}

function inclusionOf(json: unknown): Inclusion | undefined {
  if (json === null) return undefined
  const receipt = objectOf(json, 'receipt')
  if (!has(receipt, 'blockHash')) return undefined
  const blobFee = has(receipt, 'blobGasUsed') ? bigintField(receipt, 'blobGasUsed') * bigintField(receipt, 'blobGasPrice') : 0n
  return {
    block: { hash: hashField(receipt, 'blockHash'), number: numberField(receipt, 'blockNumber') },
    succeeded: bigintField(receipt, 'status') === 1n,
    feeWei: bigintField(receipt, 'gasUsed') * bigintField(receipt, 'effectiveGasPrice') + blobFee,
  }
}

/**
 * Creates the batcher's client of the devnet's L1, over JSON-RPC.
 * All reads fail with DEVNET_L1_SILENT (retry) when there is no valid response.
 */
export function createL1Client(deps: DevnetRpcDeps, l1: { readonly url: string; readonly account: Address }): BatcherL1 {
  async function read<T>(method: string, params: readonly unknown[], signal: AbortSignal, parse: (result: unknown) => T): Promise<T> {
    const outcome = await askRpc(deps, l1.url, method, params, signal)
    if (outcome.kind === 'unreachable') throw devnetFault('DEVNET_L1_SILENT', { method, reason: outcome.reason })
    if (outcome.kind === 'error') throw devnetFault('DEVNET_L1_SILENT', { method, reason: `error ${outcome.code}: ${outcome.message}` })
    try {
      return parse(outcome.result)
    } catch (error) {
      if (!(error instanceof ShapeError)) throw error
      throw devnetFault('DEVNET_L1_SILENT', { method, reason: error.message })
    }
  }

  const nonceAt = (block: 'latest' | 'pending', signal: AbortSignal): Promise<bigint> =>
    read('eth_getTransactionCount', [l1.account, block], signal, (nonce) => bigintField({ nonce }, 'nonce'))

  return {
    async tip(signal): Promise<L1Tip> {
      const fees = await read('eth_feeHistory', ['0x1', 'latest', []], signal, nextFees)
      return read('eth_getBlockByNumber', ['latest', false], signal, (json) => {
        const block = objectOf(json, 'block')
        return { hash: hashField(block, 'hash'), number: numberField(block, 'number'), timestamp: numberField(block, 'timestamp'), ...fees }
      })
    },
    async nonces(signal): Promise<AccountNonces> {
      const [latest, pending] = await Promise.all([nonceAt('latest', signal), nonceAt('pending', signal)])
      return { latest, pending }
    },
    async send(raw, signal): Promise<void> {
      const outcome = await askRpc(deps, l1.url, 'eth_sendRawTransaction', [toHex(raw)], signal)
      if (outcome.kind === 'result') return
      if (outcome.kind === 'unreachable') {
        throw devnetFault('DEVNET_L1_SILENT', { method: 'eth_sendRawTransaction', reason: outcome.reason })
      }
      if (known.test(outcome.message)) return
      throw batcherFault('L1_TX_REFUSED', { reason: refusalReason(outcome.message), message: outcome.message })
    },
    inclusion: (hash, signal) => read('eth_getTransactionReceipt', [hash], signal, inclusionOf),
  }
}
