import { executionFault } from '#block/faults'
import { RlpError } from '#lib/rlp'
import { type Block, decodeWholeBlock } from '#types/block'
import type { EthereumChain } from './ethereumChain.ts'
import type { ImportResult } from './importPayloads.ts'

type Decoded = { readonly block: Block; readonly next: number }

/** @param index of the block in the file, from 1 */
function blockAt(bytes: Uint8Array, at: number, index: number): Decoded {
  try {
    return decodeWholeBlock(bytes, at)
  } catch (error) {
    if (error instanceof RlpError) throw executionFault('BAD_BLOCK', { block: index, reason: error.message }, error)
    throw error
  }
}

/**
 * Executes blocks of Ethereum that stand in RLP one after another, and makes each the head. Each is committed when it is told of; an import that was
 * cut off goes on where it stopped when it is given the same bytes again. Nothing is begun once the signal is aborted.
 * @throws Fault INVALID_BLOCK, BAD_BLOCK (fatal), and those of the store
 */
export function importRlp(chain: EthereumChain, bytes: Uint8Array, onBlock?: (block: Block) => void, signal?: AbortSignal): ImportResult {
  const result = { imported: 0, skipped: 0, gas: 0n }
  for (let at = 0, index = 1; at < bytes.length && !signal?.aborted; index++) {
    const { block, next } = blockAt(bytes, at, index)
    at = next
    const inserted = chain.insert(block)
    if (inserted.kind === 'invalid') throw executionFault('INVALID_BLOCK', { number: block.header.number, reason: inserted.reason })
    if (inserted.kind === 'known') {
      result.skipped++
      continue
    }
    result.imported++
    result.gas += block.header.gasUsed
    onBlock?.(block)
  }
  return result
}
