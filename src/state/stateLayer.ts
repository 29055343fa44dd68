import { toHex } from '#lib/hex'
import { lazy } from '#lib/lazy'
import { NodesByHash, type TrieDiff } from '#trie/trieDiff'
import type { UpdatedState } from '#trie/tries'
import type { BlockId } from '#types/blockRef'
import type { Hash } from '#types/ids'
import type { StateDiff } from '#types/stateDiff'
import { mergeStateDiffs } from '#types/stateDiffMerge'
import { createStateDiff } from '#types/stateDiffTable'

/** Computed trie changes of a layer. */
type LayerTrie = {
  /** by hex of the address key, as in `UpdatedState` */
  readonly storageRoots: ReadonlyMap<string, Hash>
  /** diffs of the steps, oldest first */
  readonly diffs: readonly TrieDiff[]
  /** stored nodes of the diffs */
  readonly nodes: () => NodesByHash
}

/** Immutable changes of one step or a run of steps: blocks, transactions, overrides. */
export type Layer = {
  readonly diff: StateDiff
  /** undefined: the layer has values only */
  readonly trie: LayerTrie | undefined
  /** hashes that BLOCKHASH returns, by number */
  readonly hashes: ReadonlyMap<number, Hash>
  /** Numbers of the first and last block; `last` is -1 in a layer without blocks. */
  readonly first: number
  readonly last: number
  /** 0 for a single step; a merged layer has one more than its parts. */
  readonly tier: number
}

/** Outcome of one step. */
export type LayerParts = {
  readonly diff?: StateDiff
  /** of `computeStateRoot` for the diff; absent: no trie is needed above this step */
  readonly result?: Pick<UpdatedState, 'nodes' | 'storageRoots'>
  /** absent: the step is not a block, or no caller needs its hash */
  readonly block?: BlockId | undefined
  /** overridden block hashes */
  readonly hashes?: ReadonlyMap<number, Hash> | undefined
}

const noChanges = createStateDiff({ accounts: [], slots: [], codes: [] })
const noHashes: ReadonlyMap<number, Hash> = new Map()

export function createLayer({ diff = noChanges, result, block, hashes = noHashes }: LayerParts): Layer {
  return {
    diff,
    trie: result && trieOf(result.storageRoots, [result.nodes]),
    hashes: block ? new Map([...hashes, [block.number, block.hash]]) : hashes,
    first: block?.number ?? 0,
    last: block?.number ?? -1,
    tier: 0,
  }
}

function trieOf(storageRoots: ReadonlyMap<string, Hash>, diffs: readonly TrieDiff[]): LayerTrie {
  return { storageRoots, diffs, nodes: lazy(() => new NodesByHash(diffs)) }
}

/** Merges the tries of layers; undefined when one of them has none. */
function mergedTrie(layers: readonly Layer[]): LayerTrie | undefined {
  const storageRoots = new Map<string, Hash>()
  const diffs: TrieDiff[] = []
  for (const { diff, trie } of layers) {
    if (trie === undefined) return undefined
    for (const { key, wiped } of diff.hasWipes ? diff.accounts() : []) {
      if (wiped) storageRoots.delete(toHex(key))
    }
    for (const [name, root] of trie.storageRoots) storageRoots.set(name, root)
    diffs.push(...trie.diffs)
  }
  return trieOf(storageRoots, diffs)
}

/** Merges layers into one. @param layers oldest first, at least one, without gaps */
export function mergedLayer(layers: readonly Layer[]): Layer {
  return {
    diff: mergeStateDiffs(layers.map(({ diff }) => diff)),
    trie: mergedTrie(layers),
    hashes: new Map(layers.flatMap(({ hashes }) => [...hashes])),
    first: layers[0]?.first ?? 0,
    last: layers.at(-1)?.last ?? -1,
    tier: (layers[0]?.tier ?? 0) + 1,
  }
}
