import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, createWriteStream, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { type Block, runnable } from './blocks.ts'
import type { DocsValues } from './values.ts'

const root = resolve(import.meta.dirname, '../..')
const timeoutSec = 900

/** Functions that the comments `run after` use. */
const functions = `
end_servers() { basalt --end-servers; }
node_ran() { # [DIR]: a data directory with some finalized blocks, of a node that was stopped
  basalt node --network base --l1.rpc URL --l1.beacon URL --datadir "\${1:-DIR}" > /dev/null
  until curl -s localhost:8545 -H 'content-type: application/json' -d '{"jsonrpc":"2.0","id":1,"method":"eth_getBlockByNumber","params":["finalized",false]}' |
    jq -e '.result.number != "0x0"' > /dev/null; do sleep 1; done
  end_servers
}
serve_file() { # FILE PORT
  node -e 'require("http").createServer((_, r) => r.end(require("fs").readFileSync(process.argv[1]))).listen(+process.argv[2], "127.0.0.1")' "$1" "$2" > /dev/null 2>&1 &
  echo > "$DOCS_SERVERS/$!"; until curl -s "127.0.0.1:$2" > /dev/null; do sleep 0.2; done
}
`

const shims: Readonly<Record<string, string>> = {
  basalt: `exec ${process.execPath} ${join(root, 'e2e/docs/command.ts')} "$@"`,
  npx: 'if [ "$1" = basalt ]; then shift; exec basalt "$@"; fi; exec /usr/bin/env -S npm exec -- "$@"',
  npm: `if [ "$1" = start ]; then shift; [ "$1" = -- ] && shift; exec basalt devnet "$@"; fi
PATH=\${PATH#*:} exec npm "$@"`,
}

/** Makes a folder that looks like the checkout, with commands in `bin` that use the devnet. @returns the folder of the commands */
function prepare(folder: string, values: DocsValues): string {
  const commands = join(folder, '.docs-commands')
  mkdirSync(join(folder, '.docs-servers'), { recursive: true })
  mkdirSync(commands)
  for (const name of readdirSync(root))
    if (!name.startsWith('.git') && !existsSync(join(folder, name))) symlinkSync(join(root, name), join(folder, name))
  symlinkSync(values.rollupConfig, join(folder, 'rollup.json'))
  symlinkSync(values.genesis, join(folder, 'genesis.json'))
  for (const [name, text] of Object.entries(shims)) {
    writeFileSync(join(commands, name), `#!/bin/bash\n${text}\n`)
    chmodSync(join(commands, name), 0o755)
  }
  return commands
}

/** Writes the commands of a page as one script, so that its variables and functions last. */
function scriptOf(blocks: readonly Block[], folder: string): string {
  const parts = blocks.map(({ page, line, language, before, code }) => {
    const mark = `echo "== ${page}:${line}"`
    if (language === 'sh') return `${mark}\n${before}\n${code}`
    const file = `${basename(page, '.md')}-${line}.mts`
    writeFileSync(join(folder, file), `${before}\n${code}\n`)
    return `${mark}\nnode ${file}`
  })
  return `set -eo pipefail\n${functions}\n${parts.join('\n')}\necho "== end"\n`
}

export type PageRun = { readonly ran: number; readonly skipped: readonly Block[]; readonly failure: string | undefined }

/** Runs the blocks of a page in order in one shell. @param folder empty folder for the page, which keeps the log */
export async function runPage(blocks: readonly Block[], folder: string, values: DocsValues): Promise<PageRun> {
  const chosen = blocks.filter(({ language, skipped }) => runnable.includes(language) && skipped === undefined)
  const skipped = blocks.filter((block) => block.skipped !== undefined)
  if (chosen.length === 0) return { ran: 0, skipped, failure: undefined }
  const commands = prepare(folder, values)
  writeFileSync(join(folder, '.docs.sh'), scriptOf(chosen, folder))
  const logPath = join(folder, '.docs.log')
  const log = createWriteStream(logPath)
  const env = {
    ...process.env,
    PATH: `${commands}:${process.env['PATH']}`,
    ...{ DOCS_VALUES: JSON.stringify(values), DOCS_SERVERS: join(folder, '.docs-servers') },
    ...{ L1: values.l1, BEACON: values.beacon, RPC: values.rpc },
  }
  const child = spawn('timeout', [String(timeoutSec), 'bash', '.docs.sh'], { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] })
  child.stdout.pipe(log, { end: false })
  child.stderr.pipe(log, { end: false })
  await once(child, 'exit')
  const ending = spawn(join(commands, 'basalt'), ['--end-servers'], { env, stdio: 'ignore' })
  await once(ending, 'exit')
  log.end()
  const output = readFileSync(logPath, 'utf8')
  const failure = child.exitCode === 0 && output.endsWith('== end\n') ? undefined : output.split('\n').slice(-25).join('\n')
  return { ran: chosen.length, skipped, failure }
}
