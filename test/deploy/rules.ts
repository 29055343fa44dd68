import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'

export const root: string = join(import.meta.dirname, '../..')
export const rulesFile: string = join(root, 'deploy/prometheus/rules.yaml')

export type AlertRule = {
  readonly alert: string
  readonly expr: string
  readonly for?: string
  readonly labels: Readonly<Record<string, string>>
  readonly annotations: Readonly<Record<string, string>>
}

/** The alerts of deploy/prometheus/rules.yaml. */
export const alertRules: readonly AlertRule[] = (
  parse(readFileSync(rulesFile, 'utf8')) as { groups: readonly { rules: readonly AlertRule[] }[] }
).groups.flatMap(({ rules }) => rules)
