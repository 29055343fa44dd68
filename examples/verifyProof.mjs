// node examples/verifyProof.mjs BLOCK WITHDRAWAL_HASH: verifies that a withdrawal is in the output root of a block, by basalt/proof. Needs `npm run build`.
// BASALT_ROLLUP is a rollup node that you trust, here for the output root that a proposer posts to L1; BASALT_RPC is any node of the chain.
import { messagePasser, sentMessageSlot, verifyOutputRoot, verifyProof } from 'basalt/proof'

const { BASALT_RPC = 'http://127.0.0.1:8545', BASALT_ROLLUP = 'http://127.0.0.1:7545' } = process.env
const [block, withdrawalHash] = process.argv.slice(2)
const number = `0x${Number(block).toString(16)}`

async function request(url, method, ...params) {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
  const { result, error } = await (await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body })).json()
  if (error) throw new Error(`${method}: ${error.message}`)
  return result
}

/** Returns a verdict without problems, or prints them and ends. */
function valid(verdict) {
  if (verdict.kind === 'valid') return verdict
  for (const { code, at, reason } of verdict.problems) console.log(`${code} ${at}: ${reason}`)
  return process.exit(1)
}

const { outputRoot } = await request(BASALT_ROLLUP, 'optimism_outputAtBlock', number)

// no part of these two answers is trusted
const { hash, stateRoot } = await request(BASALT_RPC, 'eth_getBlockByNumber', number, false)
const slot = sentMessageSlot(withdrawalHash)
const proof = await request(BASALT_RPC, 'eth_getProof', messagePasser, [slot], number)

const { account, slots } = valid(verifyProof(proof, { stateRoot, address: messagePasser, slots: [slot] }))
valid(verifyOutputRoot(outputRoot, { stateRoot, messagePasserStorageRoot: account.storageHash, blockHash: hash }))
console.log(`output root ${outputRoot}: the withdrawal was ${slots[0].value === 1n ? 'sent' : 'not sent'}`)
