// Recorded proofs as an operator has them: switched on by a variable, without their database, and with an older copy of it.
import { execFileSync } from 'node:child_process'
import { appendFileSync } from 'node:fs'
import { verifyProof } from '#proofVerifier/proof'
import { rpcCall } from '#test/harness/process/cliProcess'
import type { Project } from './docker.ts'
import { untilSafe, type World } from './world.ts'

type Window = { readonly earliest: number | null; readonly latest: number | null }

/** `folder`: data of the chain on the host; `up`: arguments of `docker compose` that start the services */
type ProofsTrial = {
  readonly project: Project
  readonly world: World
  readonly folder: string
  readonly envFile: string
  readonly urls: { readonly http: string; readonly rollup: string }
  /** a node of the same chain to follow, with an L1 of its own; absent: the consensus half derives only */
  readonly followed?: { readonly url: string; readonly world: World } | undefined
  readonly up: readonly string[]
  readonly down: readonly string[]
}

const proved = { address: '0x4200000000000000000000000000000000000015', slots: ['0x0', '0x1', '0x2'] } as const
const [firstL1, gapL1, lastL1] = [12, 18, 24]

/** Waits until the recorded blocks end at the head of the chain. */
async function recordedWindow(http: string): Promise<Window> {
  const deadline = performance.now() + 30_000
  for (;;) {
    const window = (await rpcCall(http, 'debug_proofsSyncStatus')) as Window
    if (window.latest === Number(await rpcCall(http, 'eth_blockNumber'))) return window
    if (performance.now() > deadline) throw new Error(`the recorded blocks do not reach the head: ${JSON.stringify(window)}`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

/** Verifies a proof of each recorded block against its header, and asks for the witness of each. */
async function checkAll(http: string, { earliest, latest }: Window): Promise<number> {
  if (earliest === null || latest === null) throw new Error('no block is recorded')
  for (let number = earliest; number <= latest; number++) {
    const at = `0x${number.toString(16)}`
    const { stateRoot } = (await rpcCall(http, 'eth_getBlockByNumber', [at, false])) as { stateRoot: string }
    const proof = await rpcCall(http, 'eth_getProof', [proved.address, proved.slots, at])
    const verdict = verifyProof(proof, { stateRoot, ...proved })
    if (verdict.kind !== 'valid') throw new Error(`the proof at block ${number} is refused: ${JSON.stringify(verdict)}`)
    if (number === 0) continue
    const { state } = (await rpcCall(http, 'debug_executionWitness', [at])) as { state: readonly string[] }
    if (state.length === 0) throw new Error(`the witness of block ${number} is empty`)
  }
  return latest - earliest + 1
}

/** L1 blocks that the followed node is ahead. */
const aheadL1 = 6

/** Waits until the chain has the last block of the followed node, which L1 does not have yet. */
async function untilFollowed(http: string, { chain, l1 }: World): Promise<void> {
  const number = chain.safeHeads[l1.head] ?? 0
  const deadline = performance.now() + 60_000
  while (Number(await rpcCall(http, 'eth_blockNumber')) < number) {
    if (performance.now() > deadline) throw new Error(`block ${number} of the followed node is not there`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

/**
 * Starts a chain with recorded proofs, then the same chain without their database, then with the copy that was made first.
 * @param variable name of the variable that switches them on
 */
export async function testProofs(trial: ProofsTrial, variable: string, say: (text: string) => void): Promise<void> {
  const { project, world, folder, envFile, urls, followed, up, down } = trial
  const run = (script: string): string => execFileSync('sh', ['-c', script, 'sh', folder], { encoding: 'utf8' }).trim()
  const next = async (l1Block: number): Promise<Window> => {
    world.l1.reveal(l1Block)
    followed?.world.l1.reveal(l1Block + aheadL1)
    await project.compose(up)
    await untilSafe(world, l1Block, urls)
    if (followed) await untilFollowed(urls.http, followed.world)
    return await recordedWindow(urls.http)
  }
  appendFileSync(envFile, `\n${variable}=true\nCLIENT_PROOFS_HISTORY_WINDOW=1209600\nRETH_HTTP_API=eth,net,web3,debug\n`)
  if (followed) appendFileSync(envFile, `SVC_NODE_SOURCE_L2_RPC=${followed.url}\nSVC_NODE_PROOFS=true\n`)
  const first = await next(firstL1)
  say(`  ${variable}=true${followed ? ', following a node' : ''}: ${await checkAll(urls.http, first)} blocks have proofs and witnesses`)
  await project.compose(down)
  run('cp -a "$1/proofs" "$1/../proofs.copy" && rm -r "$1/proofs"')
  const without = await next(gapL1)
  if ((without.earliest ?? 0) < (first.latest ?? 0)) throw new Error(`without their database proofs begin at ${without.earliest}`)
  say(`  without their database: ${await checkAll(urls.http, without)} blocks, from block ${without.earliest}`)
  await project.compose(down)
  run('rm -r "$1/proofs" && mv "$1/../proofs.copy" "$1/proofs"')
  const restored = await next(lastL1)
  if (restored.earliest !== first.earliest) throw new Error(`with the older copy proofs begin at ${restored.earliest}`)
  say(`  with the older copy: ${await checkAll(urls.http, restored)} blocks, from block ${restored.earliest}`)
}
