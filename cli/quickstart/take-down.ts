import { type Scene, showObjects } from "./scene.js";

/** The whole way back: every stack, the last one first, and the state folder. */
export const takeDown = async (scene: Scene): Promise<void> => {
  const { print, title, pulumi, state } = scene;
  const made = state.projects.filter((project) => project.hasStack()).reverse();
  for (const { name } of made) {
    const project = pulumi(name);
    title(`pulumi destroy: examples/${name}`);
    await project.ready();
    await project.show("destroy", "--yes", "--skip-preview");
    await project.removeStack();
  }
  await showObjects(scene);
  state.remove();
  print("\nThe stacks and the folder .quickstart are gone. npm run quickstart starts afresh.");
};
