import { cpSync, mkdtempSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { dice } from '#test/harness/dice'
import { lastL1, recordedProcessChain } from '#test/harness/process/chain'
import { setups } from '../../e2e/halves/setups.ts'
import { eventually } from '../../e2e/nodeProcess.ts'

const folder = mkdtempSync(join(tmpdir(), 'basalt-consensus-disk-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const chain = recordedProcessChain('op-bedrock-to-holocene')
/** Bytes to flip, one a start. */
const flips = 16

/** Damages of a file of this size. */
function damagesOf(bytes: number): readonly (readonly [string, (path: string) => void])[] {
  const below = dice(11)
  const cut = (length: number) => [`cut off at ${length}`, (path: string): void => truncateSync(path, length)] as const
  const flip = (at: number) =>
    [
      `flipped at ${at}`,
      (path: string): void => {
        const content = readFileSync(path)
        content[at] = (content[at] ?? 0) ^ 0xff
        writeFileSync(path, content)
      },
    ] as const
  return [cut(1), cut(bytes >> 1), ...Array.from({ length: flips }, () => flip(below(bytes)))]
}

it('process/consensusDisk: with the file of the consensus half cut off or a byte flipped, a start names the directory, or the node derives the recorded chain', async () => {
  await using setup = await setups.whole(chain, join(folder, 'node'))
  const [node] = setup.nodes
  if (node === undefined) return expect.fail()
  setup.l1.l1.reveal(lastL1(chain) >> 1)
  node.spawn()
  await node.up()
  await eventually('half of the chain derived', 60_000, setup.together)
  await node.stop()
  const [data, kept] = [join(node.folder, 'data'), join(folder, 'kept')]
  cpSync(data, kept, { recursive: true })
  setup.l1.l1.reveal(lastL1(chain))
  const file = join('consensus', 'data.mdb')
  const outcomes: string[] = []
  for (const [name, damage] of damagesOf(statSync(join(kept, file)).size)) {
    rmSync(data, { recursive: true })
    cpSync(kept, data, { recursive: true })
    damage(join(data, file))
    node.spawn()
    const ended = await node.up().then(
      () => undefined,
      (error: Error) => error.message,
    )
    if (ended === undefined) await eventually(`${name}: the chain derived`, 60_000, setup.together)
    else expect([name, ended]).toEqual([name, expect.stringContaining(join(data, 'consensus'))])
    outcomes.push(ended === undefined ? 'derived' : 'refused')
    await node.stop()
  }
  expect(outcomes.slice(0, 2)).toEqual(['refused', 'refused'])
  expect(outcomes).toContain('derived')
}, 600_000)
