import { join } from 'node:path'
import { expect, it } from 'vitest'
import { scriptedIo } from '#test/harness/l1/scriptedIo'
import { commands } from './commands.ts'
import { runCli } from './run.ts'

const folder = join(import.meta.dirname, '../../test/fixtures/cli-help')

/** Commands for operators, whose help is a page of its own in the fixtures. The flags of other commands are compared with their tables in run.test. */
const compared = [
  'status',
  'log',
  'profile',
  'doctor',
  'config',
  'block',
  'tx',
  'receipt',
  'account',
  'call',
  'logs',
  'explain',
  'completion',
]

async function helpOf(words: readonly string[]): Promise<string> {
  const io = scriptedIo()
  expect(await runCli([...words, '--help'], io)).toBe(0)
  return io.written.out
}

it.each(compared)('cli/help: the help of %s is as recorded', async (name) => {
  const entry = commands.find((one) => one.name === name)
  const inner = (await entry?.load())?.commands ?? []
  const pages = [await helpOf([name]), ...(await Promise.all(inner.map((command) => helpOf([name, command.name]))))]
  await expect(pages.join('\n')).toMatchFileSnapshot(join(folder, `${name}.txt`))
})
