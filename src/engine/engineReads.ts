import { isFault } from '#lib/fault'
import { fromHex, toQuantity } from '#lib/hex'
import { keccak256 } from '#lib/keccak'
import { decodeRlp, RlpError, rlpBytes, rlpList } from '#lib/rlp'
import { verifyProof } from '#trie/proof'
import { type Address, emptyRoot, type Hash, hashFromBytes } from '#types/ids'
import { listOf, objectOf, ShapeError } from '#types/jsonShape'
import type { Payload } from '#types/payload'
import { payloadOfBlockJson } from './blockJson.ts'
import type { EngineRpc } from './engineRpc.ts'
import { engineFault } from './faults.ts'

/** Reads from an execution half in another process by `eth_` methods, verified by hashes. Faults are those of `EngineRpc`, and ENGINE_ERROR. */
export interface EngineReads {
  /** Returns a block; undefined when it is unknown, or the label has no block yet */
  block(at: number | Hash | 'latest' | 'safe' | 'finalized', signal?: AbortSignal): Promise<Payload | undefined>
  /** Returns the storage root, verified against the block's state root; undefined when the state is not retained. */
  storageRoot(account: Address, block: Hash, stateRoot: Hash): Promise<Hash | undefined>
  /** Runs a parser of a response. @throws Fault ENGINE_BAD_ANSWER (retry) */
  checked<T>(asked: string, parse: () => T): T
}

/** Error messages by which execution halves report an unknown block, besides null. */
const unknownBlock = /(?:block|header)\b.* not (?:found|available)|unknown block|not found/i
const methodNotFound = -32_601
/** Error codes for state that is not retained: pruned history, missing trie node, block outside the proof window. */
const prunedCodes: readonly number[] = [4_444, -32_000, -32_001, -32_602]

function storageRootIn(leaf: Uint8Array): Hash {
  return hashFromBytes(rlpBytes(rlpList(decodeRlp(leaf), 'account')[2], 'storage root', 32))
}

export function createEngineReads(rpc: EngineRpc): EngineReads {
  const { endpoint } = rpc
  const failed = (asked: string, { code }: { code: number }): Error => engineFault('ENGINE_ERROR', { endpoint, asked, code })

  function checked<T>(asked: string, parse: () => T): T {
    try {
      return parse()
    } catch (error) {
      const isShape = error instanceof ShapeError || error instanceof SyntaxError || error instanceof RlpError
      if (!isShape && !isFault(error, 'MALFORMED_PAYLOAD')) throw error
      // a SyntaxError quotes the answer
      const reason = error instanceof SyntaxError ? 'malformed hex' : error.message
      throw engineFault('ENGINE_BAD_ANSWER', { endpoint, asked, reason })
    }
  }

  return {
    checked,
    async block(at, signal): Promise<Payload | undefined> {
      const isHash = typeof at === 'string' && at.startsWith('0x')
      const method = isHash ? 'eth_getBlockByHash' : 'eth_getBlockByNumber'
      const answer = await rpc.call(method, [typeof at === 'number' ? toQuantity(at) : at, true], signal)
      if (answer.kind === 'error') {
        if (answer.code !== methodNotFound && unknownBlock.test(answer.message)) return undefined
        throw failed(method, answer)
      }
      if (answer.result === null) return undefined
      const payload = checked(method, () => payloadOfBlockJson(answer.result))
      if ((isHash && payload.blockHash !== at) || (typeof at === 'number' && payload.blockNumber !== at)) {
        throw engineFault('ENGINE_BAD_ANSWER', { endpoint, asked: method, reason: `returned block ${payload.blockHash}, requested ${at}` })
      }
      return payload
    },
    async storageRoot(account, block, stateRoot): Promise<Hash | undefined> {
      const asked = 'eth_getProof'
      const answer = await rpc.call(asked, [account, [], { blockHash: block }])
      if (answer.kind === 'error') {
        if (prunedCodes.includes(answer.code)) return undefined
        throw failed(asked, answer)
      }
      return checked(asked, () => {
        const nodes = listOf(objectOf(answer.result, 'proof')['accountProof'], 'account proof').map((node) => fromHex(String(node)))
        const verdict = verifyProof(stateRoot, keccak256(fromHex(account)), nodes)
        if (verdict.kind === 'invalid') throw new ShapeError(`proof is invalid: ${verdict.reason}`)
        return verdict.kind === 'absent' ? emptyRoot : storageRootIn(verdict.value)
      })
    },
  }
}
