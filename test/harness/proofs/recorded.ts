import { readFileSync } from 'node:fs'

/** `eth_getProof` result, before any check. */
export type ProofJson = {
  address: string
  nonce: string
  balance: string
  codeHash: string
  storageHash: string
  accountProof: string[]
  storageProof: { key: string; value: string; proof: string[] }[]
}

/** Result with the state root of its block. */
export type RootedProof = { readonly stateRoot: string; readonly proof: ProofJson }

/** Returns the committed proofs of base-reth-node: a contract, a predeploy, an account that does not exist. */
export function recordedProofs(): readonly RootedProof[] {
  const { stateRoot, proofs } = JSON.parse(readFileSync('test/fixtures/trie.json', 'utf8')) as { stateRoot: string; proofs: ProofJson[] }
  return proofs.map((proof) => ({ stateRoot, proof }))
}
