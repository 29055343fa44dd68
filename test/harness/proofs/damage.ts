import type { ProofJson } from './recorded.ts'

/** Returns an integer from 0 to below a bound. */
type Roll = (below: number) => number

/** Changes a proof in place. It may leave it as it is, when the proof has nothing to damage in this way. */
type Damage = (proof: ProofJson, roll: Roll) => void

function pick<T>(items: readonly T[], roll: Roll): T | undefined {
  return items.length === 0 ? undefined : items[roll(items.length)]
}

const listsOf = (proof: ProofJson): string[][] => [proof.accountProof, ...proof.storageProof.map((slot) => slot.proof)]
const anyBytes = (length: number, roll: Roll): string => `0x${Array.from({ length }, () => byteHex(roll(256))).join('')}`
const byteHex = (byte: number): string => byte.toString(16).padStart(2, '0')

/** Returns hex with one other byte. */
function flipped(hex: string, roll: Roll): string {
  const at = 2 + 2 * roll((hex.length - 2) / 2)
  const byte = Number.parseInt(hex.slice(at, at + 2), 16) ^ (1 + roll(255))
  return hex.slice(0, at) + byteHex(byte) + hex.slice(at + 2)
}

/** Returns another quantity, with one other bit. */
const otherQuantity = (hex: string, roll: Roll): string => `0x${(BigInt(hex) ^ (1n << BigInt(roll(64)))).toString(16)}`

function onNode(change: (node: string, roll: Roll) => string): Damage {
  return (proof, roll) => {
    const nodes = pick(listsOf(proof), roll) ?? []
    const at = roll(Math.max(1, nodes.length))
    const node = nodes[at]
    if (node !== undefined) nodes[at] = change(node, roll)
  }
}

function onNodes(change: (nodes: string[], roll: Roll, proof: ProofJson) => void): Damage {
  return (proof, roll) => change(pick(listsOf(proof), roll) ?? [], roll, proof)
}

function onSlot(change: (slot: ProofJson['storageProof'][number], roll: Roll, proof: ProofJson) => void): Damage {
  return (proof, roll) => {
    const slot = pick(proof.storageProof, roll)
    if (slot) change(slot, roll, proof)
  }
}

function swapNodes(nodes: string[], roll: Roll): void {
  const [a, b] = [roll(Math.max(1, nodes.length)), roll(Math.max(1, nodes.length))]
  const [first, second] = [nodes[a], nodes[b]]
  if (first === undefined || second === undefined) return
  nodes[a] = second
  nodes[b] = first
}

/** Each way to damage a proof, by name. */
export const damages: Readonly<Record<string, Damage>> = {
  'another byte in a node': onNode(flipped),
  'a node without its end': onNode((node, roll) => node.slice(0, 2 + 2 * roll((node.length - 2) / 2))),
  'bytes after a node': onNode((node, roll) => node + anyBytes(1 + roll(40), roll).slice(2)),
  'another digit than hex': onNode((node) => `${node.slice(0, -1)}g`),
  'a random node': onNode((node, roll) => anyBytes((node.length - 2) / 2, roll)),
  'a node of another proof': onNodes((nodes, roll, proof) => {
    const other = pick(pick(listsOf(proof), roll) ?? [], roll)
    if (other !== undefined) nodes[roll(Math.max(1, nodes.length))] = other
  }),
  'a missing node': onNodes((nodes, roll) => nodes.splice(roll(Math.max(1, nodes.length)), 1)),
  'an extra node': onNodes((nodes, roll) => nodes.splice(roll(nodes.length + 1), 0, pick(nodes, roll) ?? anyBytes(1 + roll(100), roll))),
  'nodes in another order': onNodes(swapNodes),
  'another address': (proof, roll) => {
    proof.address = flipped(proof.address, roll)
  },
  'another key': onSlot((slot, roll) => {
    slot.key = otherQuantity(slot.key, roll)
  }),
  'another value': onSlot((slot, roll) => {
    slot.value = otherQuantity(slot.value, roll)
  }),
  'the proof of another slot': onSlot((slot, roll, proof) => {
    slot.proof = [...(pick(proof.storageProof, roll)?.proof ?? [])]
  }),
  'another nonce': (proof, roll) => {
    proof.nonce = otherQuantity(proof.nonce, roll)
  },
  'another balance': (proof, roll) => {
    proof.balance = otherQuantity(proof.balance, roll)
  },
  'another code hash': (proof, roll) => {
    proof.codeHash = flipped(proof.codeHash, roll)
  },
  'another storage hash': (proof, roll) => {
    proof.storageHash = flipped(proof.storageHash, roll)
  },
}

/** Text of a proof in which an empty trie has one form: clients write it as no node or as 0x80. */
function normalForm(proof: ProofJson): string {
  const withoutEmpty = (nodes: readonly string[]): readonly string[] => (nodes.length === 1 && nodes[0] === '0x80' ? [] : nodes)
  const storageProof = proof.storageProof.map((slot) => ({ ...slot, proof: withoutEmpty(slot.proof) }))
  return JSON.stringify({ ...proof, accountProof: withoutEmpty(proof.accountProof), storageProof })
}

/** Returns a proof that differs from a valid one by one random damage, and the name of the damage. */
export function damaged(proof: ProofJson, roll: Roll): { readonly proof: ProofJson; readonly what: string } {
  const names = Object.keys(damages)
  for (;;) {
    const what = names[roll(names.length)] ?? ''
    const copy = structuredClone(proof)
    damages[what]?.(copy, roll)
    if (normalForm(copy) !== normalForm(proof)) return { proof: copy, what }
  }
}
