import { spawnSync } from 'node:child_process'
import { resolve } from 'node:path'

export const root: string = resolve(import.meta.dirname, '..')

/** Runs a script on this Node, with this terminal; returns its exit code. */
export function runNode(file: string, args: readonly string[]): number {
  return spawnSync(process.execPath, [resolve(root, file), ...args], { cwd: root, stdio: 'inherit' }).status ?? 1
}

/** Runs a program of node_modules/.bin; returns its exit code. */
export function runTool(name: string, args: readonly string[]): number {
  return spawnSync(resolve(root, 'node_modules/.bin', name), args, { cwd: root, stdio: 'inherit' }).status ?? 1
}
