import { executionFault } from '#block/faults'
import type { ImportResult } from '#blockchain/importPayloads'
import { RlpError } from '#lib/rlp'
import type { Block } from '#types/block'
import type { EthereumChain } from './chain.ts'
import { decodeWholeBlock } from './wholeBlock.ts'

type Decoded = { readonly block: Block; readonly next: number }

/** @param index of the block in the file, from 1 */
function blockAt(bytes: Uint8Array, at: number, index: number): Decoded {
  try {
    return decodeWholeBlock(bytes, at)
  } catch (error) {
    if (error instanceof RlpError) throw new Error(`block ${index} of the RLP file: ${error.message}`, { cause: error })
    throw error
  }
}

/**
 * Executes Ethereum blocks from consecutive RLP and makes each the head. Commits each block before `onBlock` is called; an interrupted import continues
 * when it is run again with the same bytes. Begins no block after the signal is aborted.
 * @throws Fault INVALID_BLOCK (fatal), and those of the store; Error for bytes that are not blocks
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
