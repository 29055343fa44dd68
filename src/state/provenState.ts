import type { StateView } from '#evm/ports'
import { equalBytes } from '#lib/bytes'
import { isFault } from '#lib/fault'
import { fromHex, toHex } from '#lib/hex'
import { keccak256 } from '#lib/keccak'
import type { NodeSource } from '#trie/ports'
import type { Account } from '#types/account'
import { emptyCodeHash, type Hash } from '#types/ids'
import { stateFault } from './faults.ts'
import { TrieView } from './trieView.ts'
import type { WorldState } from './worldState.ts'

/** Values of a state, each compared with what the state root proves. */
class ProvenView implements StateView {
  readonly #view: StateView
  readonly #tries: TrieView

  constructor(view: StateView, nodes: NodeSource, root: Hash) {
    this.#view = view
    this.#tries = new TrieView(nodes, root, view)
  }

  account(addressKey: Uint8Array): Account | undefined {
    const what = (): string => `account ${toHex(addressKey)}`
    const proven = provenValue(what, () => this.#tries.account(addressKey))
    if (!sameAccount(proven, this.#view.account(addressKey))) throw stateFault('STATE_DAMAGED', { what: what() })
    return proven
  }

  slot(addressKey: Uint8Array, slotKey: Uint8Array): Uint8Array | undefined {
    const what = (): string => `slot ${toHex(slotKey)} of account ${toHex(addressKey)}`
    const proven = provenValue(what, () => this.#tries.slot(addressKey, slotKey))
    const read = this.#view.slot(addressKey, slotKey)
    const isSame = proven && read ? equalBytes(proven, read) : proven === read
    if (!isSame) throw stateFault('STATE_DAMAGED', { what: what() })
    return proven
  }

  code(codeHash: Hash): Uint8Array {
    const code = this.#view.code(codeHash)
    if (codeHash !== emptyCodeHash && !equalBytes(keccak256(code), fromHex(codeHash)))
      throw stateFault('STATE_DAMAGED', { what: `the code with hash ${codeHash}` })
    return code
  }

  blockHash(number: number): Hash | undefined {
    return this.#view.blockHash(number)
  }
}

function sameAccount(a: Account | undefined, b: Account | undefined): boolean {
  if (a === undefined || b === undefined) return a === b
  return a.nonce === b.nonce && a.balance === b.balance && a.codeHash === b.codeHash && a.storageRoot === b.storageRoot
}

/** Reads a value from a trie. A leaf is made from the row of its value, so a wrong row is a missing node. @throws Fault STATE_DAMAGED */
function provenValue<T>(what: () => string, read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (isFault(error, 'MISSING_NODE') || isFault(error, 'BAD_NODE')) throw stateFault('STATE_DAMAGED', { what: what() }, error)
    throw error
  }
}

/** Returns a source without the nodes that have another hash than their parent names: a stored node is found by its place. */
function withHashes(nodes: NodeSource): NodeSource {
  return {
    get(owner, path, hash, key): Uint8Array | undefined {
      const rlp = nodes.get(owner, path, hash, key)
      return rlp && equalBytes(keccak256(rlp), hash) ? rlp : undefined
    },
  }
}

/**
 * Returns the same state with each account, slot and code compared with what the state root proves. A read takes some ten times as long.
 * @param root of the state
 * @returns a state whose reads throw Fault STATE_DAMAGED (fatal)
 */
export function provenState(state: WorldState, root: Hash): WorldState {
  const nodes = withHashes(state.nodes)
  return { view: new ProvenView(state.view, nodes, root), nodes }
}
